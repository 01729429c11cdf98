/** Most calls wait for nothing. */
const NONE: (() => void)[] = [];

/** The connection of a caller. It notifies a call that waits when the caller disconnects. */
export class CallerConnection {
  #isGone = false;
  #callbacks: (() => void)[] = NONE;

  /** True if the caller has disconnected. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /**
   * Calls back once, when the caller disconnects, or at once if it has disconnected. The returned function cancels
   * that.
   */
  onGone(callback: () => void): () => void {
    if (this.#isGone) callback();
    else this.#callbacks = this.#callbacks.concat(callback);
    return () => {
      this.#callbacks = this.#callbacks.filter((otherCallback) => otherCallback !== callback);
    };
  }

  /** Notes that the caller has disconnected. */
  leave(): void {
    this.#isGone = true;
    const callbacks = this.#callbacks;
    this.#callbacks = NONE;
    for (const callback of callbacks) callback();
  }
}
