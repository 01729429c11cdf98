import type { Clock } from '../../../runtime/clock.ts';
import { Counts } from '../../../runtime/counts.ts';
import type { ShopReference, WaitingCaller } from '../shop-operations.ts';

/** The most requests that may wait at a time. A wait takes up to 10 s and occupies a slot of its listener. */
const MOST_WAITS = { shop: 4, tenant: 64, node: 1_024 } as const;

/**
 * Lets a request wait for the next change of a shop's channel or for its groups. Limits the waits of a shop, a tenant
 * and a node.
 */
export class ChannelWaiters {
  readonly #clock: Clock;
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #waits = new Counts();
  #isClosed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The channel of this shop changed, its QR code changed, or its session reported its groups. */
  notify(shopId: string): void {
    const waiting = this.#waiting.get(shopId);
    this.#waiting.delete(shopId);
    for (const wake of waiting ?? []) wake();
  }

  /** Ends all waits, because this node stops. Callers ask `isClosed` before they wait again. */
  close(): void {
    this.#isClosed = true;
    for (const shopId of [...this.#waiting.keys()]) this.notify(shopId);
  }

  /** True once the node stops. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /**
   * Settles at the next change, after `timeoutMs`, when the caller disconnects, or at `close`. Returns undefined if too
   * many requests wait already.
   */
  next(
    { tenantId, shopId }: ShopReference,
    timeoutMs: number,
    caller?: WaitingCaller,
  ): Promise<void> | undefined {
    const waiting = this.#waiting.get(shopId) ?? new Set();
    const { shop, tenant, node } = MOST_WAITS;
    if (waiting.size >= shop || this.#waits.countOf(tenantId) >= tenant || this.#waits.total >= node)
      return undefined;
    this.#waits.add(tenantId, 1);
    this.#waiting.set(shopId, waiting);
    return new Promise((resolve) => {
      let stopWaiting: (() => void) | undefined;
      const wake = (): void => {
        timer.cancel();
        stopWaiting?.();
        this.#waits.add(tenantId, -1);
        resolve();
      };
      const giveUp = (): void => {
        if (!waiting.delete(wake)) return;
        if (waiting.size === 0 && this.#waiting.get(shopId) === waiting) this.#waiting.delete(shopId);
        wake();
      };
      const timer = this.#clock.after(timeoutMs, giveUp);
      waiting.add(wake);
      stopWaiting = caller?.onGone(giveUp);
    });
  }
}
