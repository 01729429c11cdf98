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

  /** Counts a request until its answer settles. */
  hold(tenantId: string, answer: Promise<unknown>): void {
    this.#inHand.set(tenantId, (this.#inHand.get(tenantId) ?? 0) + 1);
    const leave = (): void => {
      const left = (this.#inHand.get(tenantId) ?? 1) - 1;
      if (left === 0) this.#inHand.delete(tenantId);
      else this.#inHand.set(tenantId, left);
    };
    answer.then(leave, leave);
  }
}
