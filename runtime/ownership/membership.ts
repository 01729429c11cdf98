import { sleep } from '../clock.ts';
import type { NodeRecord } from '../engine.ts';
import { RuntimeFailure } from '../runtime-failure.ts';
import { Lease, type LeaseListener } from './lease.ts';
import type { OwnershipOptions } from './ownership-options.ts';

/**
 * This process as a node among the others: its lease, and its incarnation. Each start, and each return after a lost
 * lease, has a new one.
 */
export class Membership {
  readonly lease: Lease;
  readonly #options: OwnershipOptions;
  readonly #isStopped: () => boolean;
  /** Incarnations that this process requested. Redis may have one of them although no reply came. */
  readonly #requestedIncarnations = new Set<string>();
  #incarnation = '';

  /** Once `isStopped` returns true, it repeats no request to Redis. */
  constructor(options: OwnershipOptions, listener: LeaseListener, isStopped: () => boolean) {
    const { nodeId, engine, clock, limits } = options;
    this.#options = options;
    this.#isStopped = isStopped;
    this.lease = new Lease(nodeId, { engine, clock, limits, listener });
  }

  /** The current incarnation; empty before the first. */
  get incarnation(): string {
    return this.#incarnation;
  }

  /** True if this process has, had or requested the incarnation. */
  isOurs(incarnation: string | undefined): boolean {
    return incarnation !== undefined && this.#requestedIncarnations.has(incarnation);
  }

  /** True if another process has this node id. */
  isTaken(nodes: readonly NodeRecord[]): boolean {
    const { nodeId } = this.#options;
    return nodes.some((node) => node.nodeId === nodeId && !this.isOurs(node.incarnation));
  }

  /** Takes a lease under a new incarnation. */
  join(): Promise<void> {
    return this.#take(this.#newIncarnation());
  }

  /**
   * Joins again after the lease has ended in Redis. Asks until Redis answers. Resolves with false if another process
   * has this node id, and with `undefined` if this node was stopped meanwhile.
   */
  rejoin(): Promise<boolean | undefined> {
    const incarnation = this.#newIncarnation();
    return this.askAgain(async () => {
      // Each time: a process that started meanwhile is the later one.
      if (this.isTaken(await this.#options.engine.nodes())) return false;
      await this.#take(incarnation);
      return this.#isStopped() ? undefined : true;
    });
  }

  /** Ends the lease. Without a reply it ends by itself, and the others notice at their next check. */
  async leave(): Promise<void> {
    const { engine, nodeId } = this.#options;
    this.lease.stop();
    await Promise.allSettled([engine.resign(nodeId, this.#incarnation)]);
  }

  /**
   * Repeats a request to Redis until it answers. Resolves with `undefined` if this node was stopped meanwhile. Rejects
   * with any error that is not a `RuntimeFailure`.
   */
  async askAgain<Answer>(ask: () => Promise<Answer>): Promise<Answer | undefined> {
    const { clock, limits } = this.#options;
    while (!this.#isStopped()) {
      try {
        return await ask();
      } catch (error) {
        if (!(error instanceof RuntimeFailure)) throw error;
        await sleep(clock, limits.retryMs);
      }
    }
    return undefined;
  }

  #newIncarnation(): string {
    const { nodeId, random } = this.#options;
    const incarnation = `${nodeId}:${Math.floor(random() * 2 ** 48).toString(36)}`;
    this.#requestedIncarnations.add(incarnation);
    return incarnation;
  }

  async #take(incarnation: string): Promise<void> {
    await this.#options.onIncarnation(incarnation);
    // A lease that is taken after the node has left would be renewed, and the others would leave it a share.
    if (this.#isStopped()) return;
    await this.lease.take(incarnation);
    this.#incarnation = incarnation;
  }
}
