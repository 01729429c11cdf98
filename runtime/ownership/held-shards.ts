import { SHARD_COUNT } from '../address.ts';
import type { OwnedShard } from './owned-shard.ts';

/** The shards that this node runs, and what all their actors are told together. */
export class HeldShards {
  readonly #held: (OwnedShard | undefined)[] = Array.from({ length: SHARD_COUNT });

  get(number: number): OwnedShard | undefined {
    return this.#held[number];
  }

  *[Symbol.iterator](): IterableIterator<OwnedShard> {
    for (const shard of this.#held) if (shard !== undefined) yield shard;
  }

  add(shard: OwnedShard): void {
    this.#held[shard.number] = shard;
  }

  /** The shard is not run here any more: its actors stop where they are. */
  drop(shard: OwnedShard): void {
    if (this.#held[shard.number] === shard) this.#held[shard.number] = undefined;
    shard.dropped = true;
    for (const actor of [...shard.actors.values()]) actor.dispose('lost');
  }

  /** The lease has ended by our own clock: nobody waits for what may not happen here any more. */
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
