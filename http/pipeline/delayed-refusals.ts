import type { Clock } from '../../runtime/clock.ts';
import { Deadlines } from '../../runtime/deadlines.ts';

/** Delay of a refusal, in milliseconds: short for a caller, but long enough to slow down one that retries at once. */
const DELAY_MS = 500;
/** Refusals that are due within this many milliseconds share one timer. */
const TOGETHER_MS = 10;
/** Most refusals delayed at a time, of about 1 KB each; any beyond are sent at once. */
const MOST_DELAYED = 16_384;

/**
 * Delays the refusals of an overloaded node. A refusal costs about as much as the reply to a read. Callers that retry
 * at once would leave no time for the calls in progress. A caller that waits for its reply sends no further request on
 * that connection.
 */
export class DelayedRefusals {
  readonly #due: Deadlines<() => void>;
  #delayed = 0;

  constructor(clock: Clock) {
    this.#due = new Deadlines(clock, TOGETHER_MS, (send) => {
      this.#delayed -= 1;
      send();
    });
  }

  /** Resolves when the refusal may be sent; returns undefined if it may be sent at once. */
  delay(): Promise<void> | undefined {
    if (this.#delayed >= MOST_DELAYED) return undefined;
    this.#delayed += 1;
    return new Promise((resolve) => {
      this.#due.add(resolve, DELAY_MS);
    });
  }
}
