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

  /** Counts a request until its answer is there. */
  hold<Answer>(tenantId: string, answer: Promise<Answer>): Promise<Answer> {
    this.enter(tenantId);
    return answer.finally(() => this.leave(tenantId));
  }

  /** Counts a request until it leaves. */
  enter(tenantId: string): void {
    this.#add(tenantId, 1);
  }

  leave(tenantId: string): void {
    this.#add(tenantId, -1);
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
