import { shardCount } from '../address.ts';
import { logBackgroundFailure } from '../background-failures.ts';
import type { NodeRecord, ServerState, ShardRecord } from '../engine.ts';
import { RuntimeFailure } from '../runtime-failure.ts';
import { CheckTimes } from './check-times.ts';
import { claimShards } from './claim-shards.ts';
import { ClockDispute } from './clock-dispute.ts';
import { planShare } from './fair-share.ts';
import { HeldShards } from './held-shards.ts';
import type { Lease } from './lease.ts';
import { Membership } from './membership.ts';
import type { OwnedShard } from './owned-shard.ts';
import { OwnershipNotices } from './ownership-notices.ts';
import type { OwnershipOptions } from './ownership-options.ts';
import { OwnershipView } from './ownership-view.ts';
import { Rounds } from './rounds.ts';
import { ShardSettlement } from './shard-settlement.ts';
import { vacateShard } from './vacate-shard.ts';

/**
 * The shards that this node owns. The lease decides whether the node may act at all: quick, and possibly wrong. The
 * record of each shard in Redis decides who may write: it is the fence, and never wrong.
 */
export class Ownership {
  readonly view: OwnershipView;
  readonly #options: OwnershipOptions;
  readonly #held = new HeldShards();
  /** The hand-overs under way, by the shard's number. */
  readonly #leaving = new Map<number, Promise<void>>();
  readonly #rounds = new Rounds(
    () => this.#check(),
    () => this.#isStopping,
  );
  readonly #times: CheckTimes;
  readonly #notices: OwnershipNotices;
  readonly #membership: Membership;
  readonly #dispute: ClockDispute;
  readonly #settlement: ShardSettlement;
  /** True once it takes no more shards. */
  #isStopping = false;
  /** True once it takes no lease and repeats no request. */
  #isStopped = false;
  #isComingBack = false;
  #servers: readonly ServerState[] = [];
  /**
   * Until this monotonic time, this node takes no shard of a node without a lease. If Redis was unreachable, all leases
   * ran out, and one node reconnects first. The other nodes still run their actors and sockets, and reconnect too.
   */
  #graceUntilMs = 0;

  constructor(options: OwnershipOptions) {
    this.#options = options;
    const { engine, clock, limits, afterTick } = options;
    this.view = new OwnershipView(shardCount(), clock, limits);
    this.#times = new CheckTimes(clock, limits.claimEveryMs, () => this.check());
    const leavingIncarnation = (): string | undefined =>
      this.#isStopping || this.#dispute.isAside ? this.incarnation : undefined;
    this.#notices = new OwnershipNotices(this.view, { engine, afterTick, leavingIncarnation });
    const leaseListener = {
      onExpired: () => this.#onLeaseExpired(),
      onRegained: () => this.#held.onLeaseRegained(),
      onEnded: () => void this.#comeBack(),
    };
    this.#membership = new Membership(options, leaseListener, () => this.#isStopped);
    this.#dispute = new ClockDispute(options, this.#membership, () => {
      this.#notices.announce();
      return this.#leave();
    });
    this.#settlement = new ShardSettlement(options, {
      held: this.#held,
      notices: this.#notices,
      membership: this.#membership,
    });
  }

  get lease(): Lease {
    return this.#membership.lease;
  }

  get incarnation(): string {
    return this.#membership.incarnation;
  }

  /** The servers of the store at the last check that Redis answered; empty before the first. */
  get servers(): readonly ServerState[] {
    return this.#servers;
  }

  shard(number: number): OwnedShard | undefined {
    return this.#held.get(number);
  }

  shards(): Iterable<OwnedShard> {
    return this.#held;
  }

  mayAct(shard: OwnedShard): boolean {
    return !shard.isOwnerUnknown && !shard.isDropped && this.lease.holds();
  }

  /**
   * Takes the lease and an incarnation, claims this node's share and goes on doing so. Resolves after the first round.
   * Rejects if Redis gives no lease.
   */
  async run(): Promise<void> {
    await this.#notices.listen(() => this.#times.checkSoon(this.view.nodes.length));
    this.#options.engine.onAvailable(() => void this.check());
    await this.#membership.join();
    await this.check();
    this.#notices.announce();
    this.#times.start();
  }

  /**
   * Checks the owners, claims the shards of this node's share and gives away those of others. One check runs at a time.
   * Before `run` has a lease it does nothing.
   */
  async check(): Promise<void> {
    if (this.incarnation !== '') await this.#rounds.run();
  }

  async #check(): Promise<void> {
    const { engine, clock, limits, log } = this.#options;
    this.#times.noteCheck();
    const incarnation = this.incarnation;
    const quietShards = this.#held.quietShards();
    try {
      const [nodes, records, servers] = await Promise.all([
        engine.nodes(),
        engine.records(),
        engine.servers(),
        clock.check(() => engine.timeMs()),
      ]);
      this.#servers = servers;
      if (servers.some(({ isMaster }) => !isMaster))
        throw new RuntimeFailure('STORE_UNAVAILABLE', 'what a replica says may be old');
      this.view.replace(nodes, records);
      if (await this.#standsAside(nodes)) return;
      if (this.#isStopping || !this.lease.holds() || incarnation !== this.incarnation) return;
      for (const shard of this.#held.shardsWithOtherRecord(quietShards, records))
        this.#settlement.lose(shard, records[shard.number]);
      const runningShards = [...this.#held].map(({ number }) => number);
      const heldNumbers = new Set(runningShards.filter((number) => !this.#leaving.has(number)));
      const plan = planShare({
        records,
        nodes,
        incarnation,
        held: heldNumbers,
        leaving: new Set(this.#leaving.keys()),
        stopping: this.view.stopping,
        isInGrace: clock.monotonicMs() < this.#graceUntilMs,
      });
      await this.#claim(plan.claims, records);
      for (const number of plan.strays) {
        const { epoch } = records[number] as ShardRecord;
        const { record } = await engine.changeOwner(number, epoch, undefined);
        this.#notices.note(number, record);
      }
      for (const shard of this.#held) {
        // The next owner, which may be this node, loads its actors at the present time.
        if (shard.isAhead(clock)) void this.#release(shard);
      }
      for (const number of plan.releases) {
        // The shard may have been lost while the claims had no reply.
        const shard = this.#held.get(number);
        if (shard !== undefined) void this.#release(shard);
      }
    } catch (error) {
      this.#graceUntilMs = clock.monotonicMs() + limits.leaseMs;
      logBackgroundFailure(log, error, {}, 'a check of the shards failed');
    }
  }

  async #claim(numbers: readonly number[], records: readonly ShardRecord[]): Promise<void> {
    if (numbers.length === 0) return;
    const { engine, clock, counters, log, onClaimed } = this.#options;
    const incarnation = this.incarnation;
    const wonShards = await claimShards(numbers, { engine, incarnation, records });
    // Shards claimed under a lease that is over are claimed once more, as if the answer had been lost.
    if (incarnation !== this.incarnation || this.#isStopping || !this.lease.holds()) return;
    const shardsAhead = wonShards.filter((shard) => shard.isAhead(clock));
    for (const shard of shardsAhead) shard.startOver(clock);
    if (shardsAhead.length > 0) {
      counters.shardsAhead += shardsAhead.length;
      const fields = { shards: shardsAhead.map(({ number, record: { wallMs } }) => ({ number, wallMs })) };
      log.error(
        fields,
        'the clock that stored these shards was far ahead: they continue at the present time',
      );
    }
    for (const shard of wonShards) {
      this.#held.add(shard);
      this.#notices.note(shard.number, shard.record);
      onClaimed(shard);
    }
  }

  /** True if a check ends here, because the clock was or is off. */
  async #standsAside(nodes: readonly NodeRecord[]): Promise<boolean> {
    if (this.#isStopping || this.#isComingBack) return false;
    const finding = await this.#dispute.check(nodes);
    if (finding === 'superseded') this.#onSuperseded();
    // This check is from before the new incarnation.
    if (finding === 'returned') this.#rounds.again();
    return finding !== 'agreed';
  }

  /** Hands over all shards and ends the lease. */
  async #leave(): Promise<void> {
    await Promise.all([...this.#held].map((shard) => this.#release(shard)));
    this.#isStopped = this.#isStopping;
    await this.#membership.leave();
    await this.#notices.requestCheck();
  }

  /** Hands everything over, then ends the lease. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#times.stop();
    if (this.incarnation === '') return;
    this.#notices.announce();
    await this.#rounds.current;
    await this.#leave();
  }

  /** Hands the shard over. Waits for the hand-over that is already under way, if there is one. */
  #release(shard: OwnedShard): Promise<void> {
    const { number } = shard;
    let handOver = this.#leaving.get(number);
    if (handOver === undefined) {
      handOver = this.#handOver(shard).finally(() => this.#leaving.delete(number));
      this.#leaving.set(number, handOver);
    }
    return handOver;
  }

  /** Stops taking commands, settles work in progress, then leaves the shard to others. */
  async #handOver(shard: OwnedShard): Promise<void> {
    const { engine, log } = this.#options;
    try {
      await vacateShard(shard, this.#options);
      if (shard.isDropped) return;
      const { record } = await engine.changeOwner(shard.number, shard.record.epoch, undefined);
      this.#settlement.forget(shard);
      this.#notices.note(shard.number, record);
    } catch (error) {
      log.warn({ shard: shard.number, err: error }, 'a shard was left without a hand-over');
      this.#settlement.forget(shard);
    }
  }

  #onLeaseExpired(): void {
    this.#options.log.warn(
      { incarnation: this.incarnation },
      'the lease has ended by our clock: nothing takes effect until Redis answers',
    );
    this.#held.onLeaseExpired();
  }

  /**
   * Called when the lease has ended in Redis. The node takes a new incarnation. It checks for each shard whether
   * another node took it. If the epoch is unchanged, no other node wrote, and its actors continue. The other shards are
   * lost.
   */
  async #comeBack(): Promise<void> {
    const { counters, log } = this.#options;
    counters.leaseLosses += 1;
    for (const shard of this.#held) shard.isOwnerUnknown = true;
    this.#onLeaseExpired();
    const formerIncarnation = this.incarnation;
    this.#isComingBack = true;
    try {
      const isBack = await this.#membership.rejoin();
      if (isBack === false) this.#onSuperseded();
      if (isBack !== true) return;
      log.warn(
        { before: formerIncarnation, incarnation: this.incarnation },
        'the lease was lost: this node is back under a new incarnation',
      );
      await Promise.all([...this.#held].map((shard) => this.settle(shard)));
    } finally {
      this.#isComingBack = false;
      if (!this.#isStopping) void this.check();
    }
  }

  #onSuperseded(): void {
    const { log, nodeId, onSuperseded } = this.#options;
    log.error({ nodeId }, 'another process runs under this node id: this one stops');
    this.#isStopping = true;
    this.#times.stop();
    for (const shard of this.#held) this.#settlement.lose(shard);
    onSuperseded();
  }

  /** Checks whether this node still owns the shard. */
  settle(shard: OwnedShard): Promise<void> {
    return this.#settlement.settle(shard);
  }

  /** Called when the fence refused writes of a shard. */
  onFenced(shard: OwnedShard, actual: ShardRecord): void {
    this.#settlement.lose(shard, actual);
    void this.check();
  }
}
