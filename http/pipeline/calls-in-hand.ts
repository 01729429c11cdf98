/** Counts the calls that a listener has in hand. One that only waits is not among them: it costs memory, and nothing else. */
export class CallsInHand {
  readonly #most: number;
  #count = 0;
  #waiting = 0;

  /** `most`: calls in hand at a time. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Calls that are being answered now. */
  get count(): number {
    return this.#count;
  }

  /** Calls that only wait now. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Whether there are as many in hand as may be. */
  get isFull(): boolean {
    return this.#count >= this.#most;
  }

  enter(): void {
    this.#count += 1;
  }

  leave(): void {
    this.#count -= 1;
  }

  /** A call that was in hand only waits from now on. */
  beginWait(): void {
    this.#waiting += 1;
  }

  /** It goes on, and may be in hand once more than fit. */
  endWait(): void {
    this.#waiting -= 1;
  }
}
