import type { ArmedTimer, Clock } from '../clock.ts';
import type { CommitSection, Engine, SectionOutcome, ShardRecord } from '../engine.ts';
import type { RuntimeLimits } from '../limits.ts';
import type { Logger } from '../logger.ts';
import type { RuntimeCounters, RuntimeObserver } from '../observer.ts';
import type { SteppedClock } from '../stepped-clock.ts';
import type { Commitment, CommitmentOutcome } from './commitment.ts';
import type { OwnedShard } from './owned-shard.ts';

export interface GroupCommitOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly limits: RuntimeLimits;
  readonly log: Logger;
  readonly counters: RuntimeCounters;
  readonly observer: RuntimeObserver | undefined;
  /** Calls back at the end of the current turn of the event loop. */
  readonly afterTick: (callback: () => void) => void;
  /** Writes that no caller waits for may wait for a group of others until the end of a step. */
  readonly steppedClock: SteppedClock;
  /** True if this node may still act for its shards. */
  readonly leaseHolds: () => boolean;
  /** The fence refused this shard: another node owns it, or Redis lost writes. */
  readonly onFenced: (shard: OwnedShard, actual: ShardRecord) => void;
  /** A commit of this shard was not confirmed. The callee reads the shard's record and then calls `resolve`. */
  readonly onDoubt: (shard: OwnedShard) => void;
}

/** Up to this number, all waiting turns go in one group. A second group would cost more than it saves. */
const LEAST_SHARED_TURNS = 8;

/**
 * Gathers the decisions of all actors of the node in one tick. It commits them in one group, or in up to
 * `commitsInFlight` groups at once. A group is one script call; on a cluster, one call for each shard. A shard is in
 * one group under way at most. So its revisions rise one by one, and an unknown outcome concerns one revision.
 */
export class GroupCommit {
  readonly #options: GroupCommitOptions;
  /** Shards whose waiting writes the next flush handles: it sends them, or refuses those of a shard in doubt. */
  readonly #ready = new Set<OwnedShard>();
  /** The time at which each group under way was sent, oldest first. */
  readonly #submittedMs: number[] = [];
  /** The time at which the last group was sent. */
  #flushedMs = 0;
  #isFlushArmed = false;
  /** Armed while only commitments that may wait (`Commitment.mayWait`) are waiting. */
  #laterFlush: ArmedTimer | undefined;
  readonly #endOfTick = (): void => {
    this.#isFlushArmed = false;
    this.#flush();
  };

  constructor(options: GroupCommitOptions) {
    this.#options = options;
  }

  /** Returns for how many milliseconds the oldest sent group has waited for Redis, or 0 if none waits. */
  owedForMs(): number {
    const [oldestMs] = this.#submittedMs;
    return oldestMs === undefined ? 0 : this.#options.clock.monotonicMs() - oldestMs;
  }

  /** Puts a turn's writes into the next group. `commitment.onSettled` is never called from within. */
  add(shard: OwnedShard, commitment: Commitment): void {
    shard.waiting.push(commitment);
    if (shard.underWay === undefined || shard.isInDoubt) this.#ready.add(shard);
    if (commitment.mayWait === true) this.#armLater();
    else this.#arm();
  }

  /**
   * Sends the waiting commitments at the end of this tick, because a caller waits for an actor whose turn is being
   * committed.
   */
  flushSoon(): void {
    if (this.#laterFlush !== undefined) this.#arm();
  }

  /**
   * Decides if the writes of a shard that got no reply were applied. `record` is the one in Redis now. They can no
   * longer be applied later.
   */
  resolve(shard: OwnedShard, record: ShardRecord): void {
    const underWay = shard.underWay;
    const isApplied = record.revision > shard.record.revision;
    shard.adopt(record);
    shard.isInDoubt = false;
    shard.underWay = undefined;
    if (underWay !== undefined) forgetTouched(shard, underWay);
    if (shard.waiting.length > 0) this.#ready.add(shard);
    this.#arm();
    if (underWay !== undefined) settleAll(underWay, isApplied ? 'committed' : 'unavailable');
  }

  /** Removes a shard. Waiting commitments settle as fenced, those already sent as unknown. */
  drop(shard: OwnedShard): void {
    this.#ready.delete(shard);
    const { waiting, underWay } = shard;
    shard.waiting = [];
    shard.underWay = undefined;
    settleAll(waiting, 'fenced');
    if (underWay !== undefined) settleAll(underWay, 'unknown');
  }

  #arm(): void {
    if (this.#isFlushArmed || this.#submittedMs.length >= this.#options.limits.commitsInFlight) return;
    this.#isFlushArmed = true;
    this.#options.afterTick(this.#endOfTick);
  }

  #armLater(): void {
    if (this.#isFlushArmed) return;
    this.#laterFlush ??= this.#options.steppedClock.afterPause(this.#flushedMs, () => {
      this.#laterFlush = undefined;
      this.#arm();
    });
  }

  #flush(): void {
    this.#laterFlush?.cancel();
    this.#laterFlush = undefined;
    if (this.#ready.size === 0) return;
    if (!this.#options.leaseHolds()) {
      const shards = [...this.#ready];
      this.#ready.clear();
      for (const shard of shards) refuseWaiting(shard, 'the lease of this node has ended');
      return;
    }
    const shards: OwnedShard[] = [];
    const mostTurns = this.#share();
    let room = mostTurns;
    for (const shard of this.#ready) {
      if (room <= 0) break;
      this.#ready.delete(shard);
      if (shard.isInDoubt) {
        refuseWaiting(shard, 'Redis has not answered the commit before');
        continue;
      }
      shard.underWay = shard.waiting.length <= room ? shard.waiting : shard.waiting.slice(0, room);
      shard.waiting = shard.waiting.length <= room ? [] : shard.waiting.slice(room);
      room -= shard.underWay.length;
      forgetTouched(shard, shard.underWay);
      shards.push(shard);
    }
    if (shards.length === 0) return;
    void this.#commit(shards, mostTurns - room);
    // Turns that did not fit go with the next group, if one more may be sent.
    if (this.#ready.size > 0) this.#arm();
  }

  /**
   * Turns of the next group: the waiting turns divided by the groups that may still be sent. If one group took all
   * turns, its callers would ask again only after it. Redis and this node would then work alternately, never at the
   * same time.
   */
  #share(): number {
    const { groupTurns, commitsInFlight } = this.#options.limits;
    let waitingCount = 0;
    for (const shard of this.#ready) waitingCount += shard.waiting.length;
    if (waitingCount <= LEAST_SHARED_TURNS) return groupTurns;
    return Math.min(groupTurns, Math.ceil(waitingCount / (commitsInFlight - this.#submittedMs.length)));
  }

  async #commit(shards: readonly OwnedShard[], turns: number): Promise<void> {
    const { engine, clock, counters, observer } = this.#options;
    const sections = shards.map(sectionOf);
    const startedMs = clock.monotonicMs();
    this.#submittedMs.push(startedMs);
    this.#flushedMs = startedMs;
    const outcomes = await engine.commit(sections);
    this.#submittedMs.splice(this.#submittedMs.indexOf(startedMs), 1);
    counters.commits += 1;
    counters.committedTurns += turns;
    observer?.committed?.({ turns, latencyMs: clock.monotonicMs() - startedMs });
    // Fenced shards first: an effect of a committed turn may send a command to one of their actors.
    for (const isFenced of [true, false]) {
      for (const [index, outcome] of outcomes.entries()) {
        if ((outcome.code === 'fenced') !== isFenced) continue;
        this.#settle(shards[index] as OwnedShard, sections[index] as CommitSection, outcome);
      }
    }
    if (this.#ready.size > 0) this.#arm();
  }

  #settle(shard: OwnedShard, section: CommitSection, outcome: SectionOutcome): void {
    const { counters, log, onDoubt, onFenced } = this.#options;
    const underWay = shard.underWay;
    // The shard was lost or settled meanwhile, and its actors were notified.
    if (underWay === undefined || underWay !== section.entries) return;
    forgetTouched(shard, underWay);
    if (outcome.code === 'unknown') {
      counters.unknownOutcomes += 1;
      log.warn({ shard: shard.number, turns: underWay.length }, 'Redis did not confirm a group of commits');
      shard.isInDoubt = true;
      settleAll(underWay, 'unknown');
      if (shard.waiting.length > 0) this.#ready.add(shard);
      onDoubt(shard);
      return;
    }
    shard.underWay = undefined;
    if (outcome.code === 'fenced') {
      counters.fenceRefusals += 1;
      settleAll(underWay, 'fenced');
      onFenced(shard, outcome.actual as ShardRecord);
      return;
    }
    const { failures } = outcome;
    const isCommitted = outcome.code === 'committed';
    if (isCommitted) shard.confirmProposed();
    // Nothing was sent. The turns without the defect go with the next group.
    else if (failures !== undefined)
      shard.waiting = [...underWay.filter((_, index) => !failures.has(index)), ...shard.waiting];
    if (shard.waiting.length > 0) this.#ready.add(shard);
    if (failures === undefined) {
      settleAll(underWay, outcome.code, outcome.message);
      return;
    }
    for (const [index, commitment] of underWay.entries()) {
      const failure = failures.get(index);
      if (failure !== undefined) commitment.onSettled('failed', failure);
      else if (isCommitted) commitment.onSettled('committed');
    }
  }
}

/** Drops from the shard's collection memory the keys that these writes touch: their values change or have changed. */
function forgetTouched(shard: OwnedShard, commitments: readonly Commitment[]): void {
  for (const { writes } of commitments) shard.memory.forget(writes);
}

function refuseWaiting(shard: OwnedShard, message: string): void {
  const refusedCommitments = shard.waiting;
  shard.waiting = [];
  settleAll(refusedCommitments, 'unavailable', message);
}

function sectionOf(shard: OwnedShard): CommitSection {
  return {
    shard: shard.number,
    expected: shard.recordText,
    next: shard.propose(),
    entries: shard.underWay as Commitment[],
  };
}

function settleAll(commitments: readonly Commitment[], outcome: CommitmentOutcome, message?: string): void {
  for (const commitment of commitments) commitment.onSettled(outcome, message);
}
