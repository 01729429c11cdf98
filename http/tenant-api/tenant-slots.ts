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
  async hold<Answer, Next>(
    tenantId: string,
    answer: Promise<Answer>,
    next: (answer: Answer) => Next | Promise<Next>,
  ): Promise<Next> {
    this.#inHand.set(tenantId, (this.#inHand.get(tenantId) ?? 0) + 1);
    try {
      const made = next(await answer);
      return made instanceof Promise ? await made : made;
    } finally {
      const left = (this.#inHand.get(tenantId) ?? 1) - 1;
      if (left === 0) this.#inHand.delete(tenantId);
      else this.#inHand.set(tenantId, left);
    }
  }
}
