import type { Clock } from '../../runtime/clock.ts';

/** Changes that an operator may make at once. A script that sets up a few thousand shops stays below. */
export const CHANGES_AT_ONCE = 5_000;
/** Changes a second that an operator gets back. */
export const CHANGES_A_SECOND = 50;

/**
 * Bounds the changes that each operator makes on this node, so that none can push older ones out of the audit log
 * before somebody sees it: its 50,000 entries last a quarter of an hour at least.
 */
export class ChangeBudget {
  readonly #clock: Clock;
  readonly #operators = new Map<string, { left: number; atMs: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts a change. Returns undefined when it may be made, else the whole seconds until one may be. */
  take(operator: string): number | undefined {
    const nowMs = this.#clock.monotonicMs();
    const budget = this.#operators.get(operator) ?? { left: CHANGES_AT_ONCE, atMs: nowMs };
    const back = ((nowMs - budget.atMs) * CHANGES_A_SECOND) / 1_000;
    const left = Math.min(CHANGES_AT_ONCE, budget.left + back);
    this.#operators.set(operator, { left: left < 1 ? left : left - 1, atMs: nowMs });
    return left < 1 ? Math.ceil((1 - left) / CHANGES_A_SECOND) : undefined;
  }
}
