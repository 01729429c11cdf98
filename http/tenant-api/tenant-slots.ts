/** Counts the requests of each tenant that a node has in hand, so that one tenant cannot have all of its slots. */
export class TenantSlots {
  readonly #most: number;
  readonly #inHand = new Map<string, number>();

  /** `most`: requests of one tenant at a time. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Whether the tenant has as many in hand as it may. */
  isFull(tenantId: string): boolean {
    return (this.#inHand.get(tenantId) ?? 0) >= this.#most;
  }

  /** Counts a request until what `next` makes of its answer is there. */
  hold<Answer, Next>(
    tenantId: string,
    answer: Promise<Answer>,
    next: (answer: Answer) => Next | Promise<Next>,
  ): Promise<Next> {
    this.#inHand.set(tenantId, (this.#inHand.get(tenantId) ?? 0) + 1);
    const refuse = (thrown: unknown): never => {
      this.#leave(tenantId);
      throw thrown;
    };
    return answer.then((known) => {
      const made = next(known);
      if (made instanceof Promise) return made.finally(() => this.#leave(tenantId));
      this.#leave(tenantId);
      return made;
    }, refuse);
  }

  #leave(tenantId: string): void {
    const left = (this.#inHand.get(tenantId) ?? 1) - 1;
    if (left === 0) this.#inHand.delete(tenantId);
    else this.#inHand.set(tenantId, left);
  }
}
