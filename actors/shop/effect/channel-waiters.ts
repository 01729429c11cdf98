import type { Clock } from '../../../runtime/clock.ts';

/** Lets a request wait for the next change of a shop's channel. */
export class ChannelWaiters {
  readonly #clock: Clock;
  readonly #waiting = new Map<string, Set<() => void>>();
  #closed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The channel of this shop changed, or its QR code did. */
  changed(shopId: string): void {
    const waiting = this.#waiting.get(shopId);
    this.#waiting.delete(shopId);
    for (const wake of waiting ?? []) wake();
  }

  /** Nobody is to wait any more: this node stops. */
  close(): void {
    this.#closed = true;
    for (const shopId of [...this.#waiting.keys()]) this.changed(shopId);
  }

  /** True once nobody is to wait any more. */
  get closed(): boolean {
    return this.#closed;
  }

  /** Settles at the next change, or after `timeoutMs`. */
  next(shopId: string, timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(shopId) ?? new Set();
      this.#waiting.set(shopId, waiting);
      const timer = this.#clock.after(timeoutMs, () => {
        waiting.delete(wake);
        if (waiting.size === 0 && this.#waiting.get(shopId) === waiting) this.#waiting.delete(shopId);
        resolve();
      });
      const wake = (): void => {
        timer.cancel();
        resolve();
      };
      waiting.add(wake);
    });
  }
}
