import type { Clock } from '../../runtime/clock.ts';

/** Delay of a refusal, in milliseconds: short for a caller, but long enough to slow down one that retries at once. */
const DELAY_MS = 500;
/** Refusals made within this many milliseconds share one timer. */
const TOGETHER_MS = 10;
/** Most refusals delayed at a time, of about 1 KB each; any beyond are sent at once. */
const MOST_DELAYED = 16_384;

/** Refusals that are sent at the same moment. */
interface Group {
  readonly sinceMs: number;
  readonly due: Promise<void>;
  count: number;
}

/**
 * Delays the refusals of an overloaded node. A refusal costs about as much as the reply to a read. Callers that retry
 * at once would leave no time for the calls in progress. A caller that waits for its reply sends no further request on
 * that connection.
 */
export class DelayedRefusals {
  readonly #clock: Clock;
  #delayed = 0;
  #newest: Group | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves when the next refusal may be sent; returns undefined if it may be sent at once. */
  delay(): Promise<void> | undefined {
    if (this.#delayed >= MOST_DELAYED) return undefined;
    const nowMs = this.#clock.monotonicMs();
    if (this.#newest === undefined || nowMs - this.#newest.sinceMs >= TOGETHER_MS) {
      this.#newest = this.#begin(nowMs);
    }
    this.#newest.count += 1;
    this.#delayed += 1;
    return this.#newest.due;
  }

  #begin(sinceMs: number): Group {
    const group: Group = {
      sinceMs,
      count: 0,
      due: new Promise((resolve) => {
        this.#clock.after(DELAY_MS, () => {
          this.#delayed -= group.count;
          resolve();
        });
      }),
    };
    return group;
  }
}
