import type { NodeRecord } from '../engine.ts';
import type { Membership } from './membership.ts';
import type { OwnershipOptions } from './ownership-options.ts';

/**
 * The clocks agree as before, or the node stands aside and owns nothing. Otherwise the clocks agree again: the node
 * returned under a new incarnation, or another process has its node id.
 */
type ClockFinding = 'agreed' | 'aside' | 'returned' | 'superseded';

/**
 * A node whose clock disagrees with that of Redis stands aside, because either clock may be wrong. It hands over its
 * shards and gives up its lease, so that the others take its share. It still forwards requests. Once the clocks agree
 * it returns under a new incarnation.
 */
export class ClockDispute {
  readonly #options: OwnershipOptions;
  readonly #membership: Membership;
  /** Hands over all shards and ends the lease. */
  readonly #leave: () => Promise<void>;
  #isAside = false;

  constructor(options: OwnershipOptions, membership: Membership, leave: () => Promise<void>) {
    this.#options = options;
    this.#membership = membership;
    this.#leave = leave;
  }

  get isAside(): boolean {
    return this.#isAside;
  }

  /**
   * Compares the clocks with the tolerance. Call it at each check of the shards, after Redis' time was read. Do not
   * call it while the node stops or takes a new incarnation, because a return here would take a second one.
   */
  async check(nodes: readonly NodeRecord[]): Promise<ClockFinding> {
    const { clock, counters, log } = this.#options;
    if (!clock.isOff) return this.#isAside ? this.#comeBack(nodes) : 'agreed';
    if (!this.#isAside) {
      this.#isAside = true;
      counters.clockDisputes += 1;
      const fields = { aheadMs: clock.aheadMs() };
      log.error(fields, 'the clocks of this node and of Redis disagree: it owns nothing until they agree');
    }
    if (!this.#membership.lease.isOver) await this.#leave();
    return 'aside';
  }

  async #comeBack(nodes: readonly NodeRecord[]): Promise<ClockFinding> {
    if (this.#membership.isTaken(nodes)) return 'superseded';
    if (this.#membership.lease.isOver) await this.#membership.join();
    this.#isAside = false;
    const { incarnation } = this.#membership;
    this.#options.log.warn({ incarnation }, 'the clocks agree again: this node is back');
    return 'returned';
  }
}
