/** Calls that this node took and that wait at the node which owns their tenant. They end early when this node stops. */
export class WaitsElsewhere {
  readonly #ends = new Set<() => void>();
  #isClosed = false;

  /** Has `end` called when this node stops, at once if it does already. The returned function takes it back. */
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
