import { shardCount } from '../address.ts';
import { recordText, type ShardRecord } from '../engine.ts';
import type { OwnedShard } from './owned-shard.ts';

/** The shards that this node runs, with the calls that concern all of their actors. */
export class HeldShards {
  readonly #held: (OwnedShard | undefined)[] = Array.from({ length: shardCount() });

  get(number: number): OwnedShard | undefined {
    return this.#held[number];
  }

  *[Symbol.iterator](): IterableIterator<OwnedShard> {
    for (const shard of this.#held) if (shard !== undefined) yield shard;
  }

  add(shard: OwnedShard): void {
    this.#held[shard.number] = shard;
  }

  /** The shards without an open commit, and the record that Redis must have for each while that is so. */
  quietShards(): ReadonlyMap<OwnedShard, string> {
    return new Map([...this].filter(isQuiet).map((shard) => [shard, shard.recordText]));
  }

  /**
   * Returns the quiet shards that have another record in Redis than here. None of their writes waited for a reply, from
   * before the records were read until now. So another node has the shard, or Redis lost a write that it acknowledged.
   */
  shardsWithOtherRecord(
    quietShards: ReadonlyMap<OwnedShard, string>,
    records: readonly ShardRecord[],
  ): readonly OwnedShard[] {
    return [...this].filter((shard) => {
      const record = records[shard.number];
      const mayBeCompared = isQuiet(shard) && quietShards.get(shard) === shard.recordText;
      return mayBeCompared && record !== undefined && recordText(record) !== shard.recordText;
    });
  }

  /** This node no longer runs the shard. Its actors stop at once. */
  drop(shard: OwnedShard): void {
    if (this.#held[shard.number] === shard) this.#held[shard.number] = undefined;
    shard.isDropped = true;
    for (const actor of [...shard.actors.values()]) actor.dispose('lost');
  }

  /** Refuses the client commands that wait: the lease has ended by our own clock. */
  onLeaseExpired(): void {
    for (const shard of this) for (const actor of shard.actors.values()) actor.onLeaseExpired();
  }

  /** This node still owns the shard. Committed turns take effect, and turns continue. */
  onOwnerConfirmed(shard: OwnedShard): void {
    shard.isOwnerUnknown = false;
    for (const actor of shard.actors.values()) actor.onLeaseRegained();
  }

  /** The lease was regained. A shard whose owner is still being checked resumes once the owner is known. */
  onLeaseRegained(): void {
    for (const shard of this) if (!shard.isOwnerUnknown) this.onOwnerConfirmed(shard);
  }
}

function isQuiet({ underWay, isInDoubt, settling, isOwnerUnknown, isDraining }: OwnedShard): boolean {
  return underWay === undefined && settling === undefined && !isInDoubt && !isOwnerUnknown && !isDraining;
}
