/** Lets so many work at a time, and of one tenant no more than its share, so that nobody waits for another's. */
export class FairSlots {
  readonly #bounds: { readonly all: number; readonly tenant: number };
  readonly #held = new Map<string, number>();
  /** Who waits, by tenant; the tenants in turn. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #all = 0;

  constructor(bounds: { readonly all: number; readonly tenant: number }) {
    this.#bounds = bounds;
  }

  /** Runs the work when it is its turn. */
  async run<Result>(tenantId: string, work: () => Promise<Result>): Promise<Result> {
    if (this.#isFree(tenantId)) this.#take(tenantId);
    else await this.#wait(tenantId);
    try {
      return await work();
    } finally {
      this.#leave(tenantId);
    }
  }

  #isFree(tenantId: string): boolean {
    return this.#all < this.#bounds.all && (this.#held.get(tenantId) ?? 0) < this.#bounds.tenant;
  }

  #take(tenantId: string): void {
    this.#all += 1;
    this.#held.set(tenantId, (this.#held.get(tenantId) ?? 0) + 1);
  }

  #wait(tenantId: string): Promise<void> {
    return new Promise((resolve) => {
      const queue = this.#waiting.get(tenantId) ?? [];
      queue.push(resolve);
      this.#waiting.set(tenantId, queue);
    });
  }

  /** Gives the slot to the next tenant that may have one, which then goes behind all others. */
  #leave(tenantId: string): void {
    this.#all -= 1;
    const left = (this.#held.get(tenantId) ?? 1) - 1;
    if (left === 0) this.#held.delete(tenantId);
    else this.#held.set(tenantId, left);
    for (const [next, queue] of this.#waiting) {
      if (!this.#isFree(next)) continue;
      const resume = queue.shift();
      this.#waiting.delete(next);
      if (queue.length > 0) this.#waiting.set(next, queue);
      this.#take(next);
      resume?.();
      return;
    }
  }
}
