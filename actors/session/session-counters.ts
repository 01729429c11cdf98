import type { SendOutcome, SessionEnd, SessionFigures } from './session-host.ts';

/** Counts what happens to the sessions of one node. */
export class SessionCounters {
  readonly #ends = new Map<SessionEnd | 'worker_lost', number>();
  readonly #outcomes = new Map<string, number>();
  #received = 0;

  ended(end: SessionEnd | 'worker_lost'): void {
    this.#ends.set(end, (this.#ends.get(end) ?? 0) + 1);
  }

  came(outcome: SendOutcome): void {
    const name = outcome.kind === 'refused' ? `refused ${outcome.code}` : outcome.kind;
    this.#outcomes.set(name, (this.#outcomes.get(name) ?? 0) + 1);
  }

  received(): void {
    this.#received += 1;
  }

  /** All that was counted so far. */
  counts(): Pick<SessionFigures, 'ends' | 'outcomes' | 'received'> {
    return { ends: this.#ends, outcomes: this.#outcomes, received: this.#received };
  }
}
