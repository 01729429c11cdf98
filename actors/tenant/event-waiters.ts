import type { Clock } from '../../runtime/clock.ts';

/** How many calls may wait for events at a time; each holds a slot of its listener for up to 30 s. */
const MOST_WAITS = { tenant: 64, node: 1_024 } as const;

/** One call that waits for its tenant's events. */
export interface EventWait {
  /**
   * Settles at the next event, or at once when one came since it was last asked: `news`. `over`: `timeoutMs` passed, or
   * nobody is to wait here any more.
   */
  next(timeoutMs: number): Promise<'news' | 'over'>;
  /** Nobody is to be told any more: `next` settles with `over`, now or when it is asked. */
  end(): void;
  leave(): void;
}

interface Waiting {
  isNews: boolean;
  isOver: boolean;
  wake: (() => void) | undefined;
}

/** Lets calls wait for the next event of a tenant, as many as a tenant and a node may have waiting. */
export class EventWaiters {
  readonly #clock: Clock;
  readonly #waiting = new Map<string, Set<Waiting>>();
  #waits = 0;
  #closed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Events of this tenant are stored. */
  changed(tenantId: string): void {
    for (const waiting of this.#waiting.get(tenantId) ?? []) {
      waiting.isNews = true;
      waiting.wake?.();
    }
  }

  /** The tenant leaves this node: its waits end now, while the node may still answer, and callers ask the next owner. */
  end(tenantId: string): void {
    for (const waiting of this.#waiting.get(tenantId) ?? []) {
      waiting.isOver = true;
      waiting.wake?.();
    }
  }

  /** Ends all waits and takes no more, since this node stops. */
  close(): void {
    this.#closed = true;
    for (const tenantId of this.#waiting.keys()) this.end(tenantId);
  }

  /** How many calls wait on this node. */
  get count(): number {
    return this.#waits;
  }

  /** Counts one more call until it leaves; undefined: too many wait already. */
  enter(tenantId: string): EventWait | undefined {
    const ofTenant = this.#waiting.get(tenantId) ?? new Set();
    const isFull = ofTenant.size >= MOST_WAITS.tenant || this.#waits >= MOST_WAITS.node;
    if (this.#closed || isFull) return undefined;
    const waiting: Waiting = { isNews: false, isOver: false, wake: undefined };
    this.#waits += 1;
    this.#waiting.set(tenantId, ofTenant.add(waiting));
    return {
      next: (timeoutMs) => this.#next(waiting, timeoutMs),
      end: () => {
        waiting.isOver = true;
        waiting.wake?.();
      },
      leave: () => {
        if (!ofTenant.delete(waiting)) return;
        this.#waits -= 1;
        if (ofTenant.size === 0 && this.#waiting.get(tenantId) === ofTenant) this.#waiting.delete(tenantId);
      },
    };
  }

  async #next(waiting: Waiting, timeoutMs: number): Promise<'news' | 'over'> {
    if (!waiting.isNews && !waiting.isOver) {
      await new Promise<void>((resolve) => {
        const timer = this.#clock.after(timeoutMs, resolve);
        waiting.wake = () => {
          timer.cancel();
          resolve();
        };
      });
      waiting.wake = undefined;
    }
    const isNews = waiting.isNews && !waiting.isOver;
    waiting.isNews = false;
    return isNews ? 'news' : 'over';
  }
}
