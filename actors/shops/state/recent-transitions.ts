import type { MachineStep } from '../machines/transition-table.ts';

const KEPT_TRANSITIONS = 20;

/** One step of one of the two machines, and when. */
export interface Transition extends MachineStep {
  readonly atMs: number;
  readonly machine: 'channel' | 'pacing';
}

/**
 * The last transitions of a shop's two machines, for operators. Changed in place once a commit holds, as the ledger is: a
 * message takes six of them, and what is made anew at each lives for seconds in thousands of shops. The steps themselves
 * are those of the machines' tables, which all shops share.
 */
export class RecentTransitions {
  #steps: MachineStep[] = [];
  #atMs: number[] = [];
  /** Where the oldest is, which the next replaces, once all places are taken. */
  #oldest = 0;

  note(step: MachineStep, atMs: number): void {
    if (this.#steps.length < KEPT_TRANSITIONS) {
      // To push would reserve room for seventeen.
      this.#steps = this.#steps.concat(step);
      this.#atMs = this.#atMs.concat(atMs);
      return;
    }
    this.#steps[this.#oldest] = step;
    this.#atMs[this.#oldest] = atMs;
    this.#oldest = (this.#oldest + 1) % KEPT_TRANSITIONS;
  }

  /** Newest last. */
  list(): Transition[] {
    const all = this.#steps.map((step, index) => ({ atMs: this.#atMs[index], ...step }) as Transition);
    return [...all.slice(this.#oldest), ...all.slice(0, this.#oldest)];
  }
}
