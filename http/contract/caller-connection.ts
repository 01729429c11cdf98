/** Most calls wait for nothing. */
const NONE: (() => void)[] = [];

/** Notifies a call that waits when its caller disconnects. */
export class CallerConnection {
  #isGone = false;
  #callbacks: (() => void)[] = NONE;

  /** True if the caller has disconnected. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** Calls back once, when the caller goes away before it was answered; at once if it has. The returned function ends that. */
  onGone(callback: () => void): () => void {
    if (this.#isGone) callback();
    else this.#callbacks = this.#callbacks.concat(callback);
    return () => {
      this.#callbacks = this.#callbacks.filter((other) => other !== callback);
    };
  }

  /** The caller has gone. */
  leave(): void {
    this.#isGone = true;
    const callbacks = this.#callbacks;
    this.#callbacks = NONE;
    for (const callback of callbacks) callback();
  }
}
