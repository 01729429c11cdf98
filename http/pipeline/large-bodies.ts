/**
 * Bodies over this are taken in hand one per turn of the event loop, in bytes: to parse and check 60 KB of nonsense takes
 * one to two milliseconds, of 8 KiB a fifth of one.
 */
export const LARGE_BODY_BYTES = 8 * 1024;

/** Bodies that wait at most, 16 MiB; what comes beside them is taken in hand at once. */
const MOST_WAITING = 256;

/**
 * Lets requests with large bodies begin one by one. One poll of the event loop may bring a hundred of them, and everybody
 * else's small requests would wait for all; so they wait for one.
 */
export class LargeBodies {
  readonly #waiting: (() => void)[] = [];

  /** Runs `begin` in a turn of its own, in the order asked for; at once where too many wait. */
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
