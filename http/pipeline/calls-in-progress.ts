/** Counts the calls in progress of a listener. A call that only waits does not count, because it costs only memory. */
export class CallsInProgress {
  readonly #most: number;
  #count = 0;
  #waiting = 0;

  /** `mostCalls` bounds the calls in progress at a time. */
  constructor(mostCalls: number) {
    this.#most = mostCalls;
  }

  /** Calls that are being answered now. */
  get count(): number {
    return this.#count;
  }

  /** Calls that only wait now. */
  get waiting(): number {
    return this.#waiting;
  }

  /** True if no further call may begin. */
  get isFull(): boolean {
    return this.#count >= this.#most;
  }

  enter(): void {
    this.#count += 1;
  }

  leave(): void {
    this.#count -= 1;
  }

  /** Counts a call as waiting. */
  beginWait(): void {
    this.#waiting += 1;
  }

  /** Ends the wait of a call. Its continuation may exceed the limit. */
  endWait(): void {
    this.#waiting -= 1;
  }
}
