import { Counts } from '../../../../runtime/counts.ts';

/**
 * Gives each tenant a number of slots. A caller that finds none waits for one, in the order of the calls. Work that takes
 * turns for all tenants together has a name of its own.
 */
export class TenantSlots {
  readonly #slotsPerTenant: number;
  readonly #taken = new Counts();
  readonly #waiting = new Map<string, (() => void)[]>();

  constructor(slotsPerTenant: number) {
    this.#slotsPerTenant = slotsPerTenant;
  }

  /**
   * Resolves with a slot of the tenant's; called, it gives the slot back, once. Rejects with the signal's reason when
   * that aborts before there is one.
   */
  async take(tenantId: string, signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    if (this.#taken.countOf(tenantId) < this.#slotsPerTenant) this.#taken.add(tenantId, 1);
    else await this.#wait(tenantId, signal);
    let isHeld = true;
    return () => {
      if (isHeld) this.#giveBack(tenantId);
      isHeld = false;
    };
  }

  #wait(tenantId: string, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const queue = this.#waiting.get(tenantId) ?? [];
      this.#waiting.set(tenantId, queue);
      const abandon = (): void => {
        queue.splice(queue.indexOf(next), 1);
        reject(signal?.reason);
      };
      const next = (): void => {
        signal?.removeEventListener('abort', abandon);
        resolve();
      };
      signal?.addEventListener('abort', abandon, { once: true });
      queue.push(next);
    });
  }

  /** A freed slot goes to the next caller that waits. */
  #giveBack(tenantId: string): void {
    const next = this.#waiting.get(tenantId)?.shift();
    if (next !== undefined) {
      next();
      return;
    }
    this.#waiting.delete(tenantId);
    this.#taken.add(tenantId, -1);
  }
}
