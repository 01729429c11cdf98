/** The calls of this node that wait at the owner of their tenant. They end early when this node stops. */
export class WaitsElsewhere {
  readonly #ends = new Set<() => void>();
  #isClosed = false;

  /** Calls `end` when this node stops, or at once if it stops already. The returned function cancels that. */
  add(end: () => void): () => void {
    this.#ends.add(end);
    if (this.#isClosed) end();
    return () => this.#ends.delete(end);
  }

  /** Ends all waits, present and future ones. */
  close(): void {
    this.#isClosed = true;
    for (const end of this.#ends) end();
  }
}
