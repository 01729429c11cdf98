import type { Clock } from '../../runtime/clock.ts';

/**
 * How long a refusal is delayed, in milliseconds: short for a caller, long enough to slow down one that repeats
 * at once.
 */
const HOLD_MS = 500;
/** Refusals made within this many milliseconds share one timer. */
const TOGETHER_MS = 10;
/** Most refusals delayed at a time, of about 1 KB each; any beyond are sent at once. */
const MOST_HELD = 16_384;

/** Refusals that are told at the same moment. */
interface Company {
  readonly sinceMs: number;
  readonly told: Promise<void>;
  count: number;
}

/**
 * Delays the refusals of an overloaded node. A refusal costs about as much as the answer to a read, so callers that
 * repeat at once would leave no time for the requests in hand; a caller that waits for its answer does not ask again on
 * the same connection.
 */
export class DelayedRejections {
  readonly #clock: Clock;
  #held = 0;
  #newest: Company | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves when one more refusal is to be told; undefined: at once. */
  hold(): Promise<void> | undefined {
    if (this.#held >= MOST_HELD) return undefined;
    const nowMs = this.#clock.monotonicMs();
    if (this.#newest === undefined || nowMs - this.#newest.sinceMs >= TOGETHER_MS) {
      this.#newest = this.#begin(nowMs);
    }
    this.#newest.count += 1;
    this.#held += 1;
    return this.#newest.told;
  }

  #begin(sinceMs: number): Company {
    const company: Company = {
      sinceMs,
      count: 0,
      told: new Promise((resolve) => {
        this.#clock.after(HOLD_MS, () => {
          this.#held -= company.count;
          resolve();
        });
      }),
    };
    return company;
  }
}
