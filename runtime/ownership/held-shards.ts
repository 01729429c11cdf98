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

  /**
   * The shards of which nothing is under way, and the record that Redis must hold of each for as long as that
   * is so.
   */
  quiet(): ReadonlyMap<OwnedShard, string> {
    return new Map([...this].filter(isQuiet).map((shard) => [shard, shard.recordText]));
  }

  /**
   * Returns the quiet shards whose record in Redis is another one. Nothing of theirs was under way from before the
   * records were read until now. So another node has the shard, or Redis lost a write that it had acknowledged.
   */
  strayed(quiet: ReadonlyMap<OwnedShard, string>, records: readonly ShardRecord[]): readonly OwnedShard[] {
    return [...this].filter((shard) => {
      const record = records[shard.number];
      const mayBeCompared = isQuiet(shard) && quiet.get(shard) === shard.recordText;
      return mayBeCompared && record !== undefined && recordText(record) !== shard.recordText;
    });
  }

  /** The shard is not run here any more: its actors stop where they are. */
  drop(shard: OwnedShard): void {
    if (this.#held[shard.number] === shard) this.#held[shard.number] = undefined;
    shard.dropped = true;
    for (const actor of [...shard.actors.values()]) actor.dispose('lost');
  }

  /** Ends all waits: the lease has ended by our own clock, and nothing may take effect here any more. */
  freeze(): void {
    for (const shard of this) for (const actor of shard.actors.values()) actor.freeze();
  }

  /** The shard is known to be ours: what was committed takes effect, and turns go on. */
  thaw(shard: OwnedShard): void {
    shard.frozen = false;
    for (const actor of shard.actors.values()) actor.thaw();
  }

  /** The lease was regained. A shard that is still being asked about thaws once it is known whose it is. */
  thawAll(): void {
    for (const shard of this) if (!shard.frozen) this.thaw(shard);
  }
}

function isQuiet({ underWay, inDoubt, settling, frozen, draining }: OwnedShard): boolean {
  return underWay === undefined && settling === undefined && !inDoubt && !frozen && !draining;
}
