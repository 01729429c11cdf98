/**
 * Bodies above this length, in UTF-16 units, are handled one per tick of the event loop. Parsing and checking 60 KB of
 * invalid data takes one to two milliseconds, 8 KiB a fifth of a millisecond.
 */
export const LARGE_BODY_LENGTH = 8 * 1024;

/** Most bodies that wait, 16 MiB. Further ones are handled at once. */
const MOST_WAITING = 256;

/**
 * Starts requests with large bodies one by one. One poll of the event loop may bring a hundred of them. Small requests
 * of other callers then wait for one instead of for all.
 */
export class LargeBodies {
  readonly #waiting: (() => void)[] = [];

  /** Runs `begin` in a separate turn, in the order of the calls; at once if too many wait. */
  enter(begin: () => void): void {
    if (this.#waiting.length >= MOST_WAITING) {
      begin();
      return;
    }
    this.#waiting.push(begin);
    if (this.#waiting.length === 1) setImmediate(() => this.#next());
  }

  #next(): void {
    const begin = this.#waiting[0];
    try {
      begin?.();
    } finally {
      this.#waiting.shift();
      if (this.#waiting.length > 0) setImmediate(() => this.#next());
    }
  }
}
