import type { InboundKind } from '../inbound-content.ts';
import type { SendOutcome, SessionEnd, SessionFigures } from './session-host.ts';
import type { SessionNote } from './worker-protocol.ts';

/** Classes of stanzas that are counted by name. */
const CLASSES = new Set(['message', 'status', 'receipt', 'notification', 'call', 'appdata']);

/** Counts what happens to the sessions of one node. */
export class SessionCounters {
  readonly #ends = new Map<SessionEnd | 'worker_lost', number>();
  readonly #outcomes = new Map<string, number>();
  readonly #unanswered = new Map<string, number>();
  readonly #offline = { announced: 0, drained: 0 };
  #received = 0;
  readonly #announced = new Map<InboundKind, number>();

  countEnd(end: SessionEnd | 'worker_lost'): void {
    this.#ends.set(end, (this.#ends.get(end) ?? 0) + 1);
  }

  countOutcome(outcome: SendOutcome): void {
    const name = outcome.kind === 'refused' ? `refused ${outcome.code}` : outcome.kind;
    this.#outcomes.set(name, (this.#outcomes.get(name) ?? 0) + 1);
  }

  /** `kind`: of a message whose content is published to its tenant. */
  countReceived(kind?: InboundKind): void {
    this.#received += 1;
    if (kind !== undefined) this.#announced.set(kind, (this.#announced.get(kind) ?? 0) + 1);
  }

  countNote(note: SessionNote): void {
    switch (note.type) {
      case 'offline_announced':
        this.#offline.announced += note.count;
        break;
      case 'offline_drained':
        this.#offline.drained += note.drained;
        break;
      case 'offline_unfinished':
        break;
      case 'unanswered': {
        const name = CLASSES.has(note.stanzaClass) ? note.stanzaClass : 'other';
        this.#unanswered.set(name, (this.#unanswered.get(name) ?? 0) + 1);
        break;
      }
    }
  }

  /** Returns all counts so far. */
  counts(): Omit<SessionFigures, 'workersLost' | 'workerHeapBytes'> {
    return {
      ends: this.#ends,
      outcomes: this.#outcomes,
      received: this.#received,
      announced: this.#announced,
      unanswered: this.#unanswered,
      offline: this.#offline,
    };
  }
}
