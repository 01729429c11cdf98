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
    this.#add(tenantId, 1);
    const refuse = (thrown: unknown): never => {
      this.#add(tenantId, -1);
      throw thrown;
    };
    return answer.then((known) => {
      const made = next(known);
      if (made instanceof Promise) return made.finally(() => this.#add(tenantId, -1));
      this.#add(tenantId, -1);
      return made;
    }, refuse);
  }

  /** A request of the tenant only waits from now on, or goes on. */
  waits(tenantId: string, isWaiting: boolean): void {
    this.#add(tenantId, isWaiting ? -1 : 1);
  }

  #add(tenantId: string, by: number): void {
    const left = (this.#inHand.get(tenantId) ?? 0) + by;
    if (left === 0) this.#inHand.delete(tenantId);
    else this.#inHand.set(tenantId, left);
  }
}
