/** The connection of one call, as far as whoever makes the call wait has to know of it. */
export class CallerConnection {
  #isGone = false;
  #callbacks: Set<() => void> | undefined;

  /** Whether nobody is there any more to be answered. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** Calls back once, when the caller goes away before it was answered; at once if it has. The returned function ends that. */
  onGone(callback: () => void): () => void {
    // Most calls wait for nothing, so the set is made for those that do.
    this.#callbacks ??= new Set();
    if (this.#isGone) callback();
    else this.#callbacks.add(callback);
    return () => void this.#callbacks?.delete(callback);
  }

  /** The caller has gone. */
  leave(): void {
    this.#isGone = true;
    for (const callback of this.#callbacks ?? []) callback();
    this.#callbacks = undefined;
  }
}
