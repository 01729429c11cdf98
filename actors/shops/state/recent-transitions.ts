import type { MachineStep } from '../machines/transition-table.ts';

const KEPT_TRANSITIONS = 20;

/** One step of one of the two machines, and its time. */
export interface PastTransition extends MachineStep {
  readonly atMs: number;
  readonly machine: 'channel' | 'pacing';
}

/**
 * The last transitions of a shop's two machines, for operators. Changed in place once a commit succeeds, like the
 * ledger. A message takes four of them, and new objects for each would live for seconds in thousands of shops. The
 * steps themselves belong to the machines' tables, which all shops share.
 */
export class RecentTransitions {
  #steps: MachineStep[] = [];
  #atMs: number[] = [];
  /** The index of the oldest, which the next one replaces once the list is full. */
  #oldest = 0;

  note(step: MachineStep, atMs: number): void {
    if (this.#steps.length < KEPT_TRANSITIONS) {
      // `concat` reserves less than a push (docs/decisions/012-value-or-promise.md, Closures and arrays).
      this.#steps = this.#steps.concat(step);
      this.#atMs = this.#atMs.concat(atMs);
      return;
    }
    this.#steps[this.#oldest] = step;
    this.#atMs[this.#oldest] = atMs;
    this.#oldest = (this.#oldest + 1) % KEPT_TRANSITIONS;
  }

  /** Returns the transitions, newest last. */
  list(): PastTransition[] {
    const transitions = this.#steps.map(
      (step, index) => ({ atMs: this.#atMs[index], ...step }) as PastTransition,
    );
    return [...transitions.slice(this.#oldest), ...transitions.slice(0, this.#oldest)];
  }
}
