import type { ActorIndex, ActorSummary } from '../actors.ts';
import { type Address, addressOf } from '../address.ts';
import type { OwnedShard } from '../ownership/owned-shard.ts';
import { eachYielding, Yielder } from '../yielder.ts';

/**
 * To look at ten thousand actors takes tens of milliseconds, since hardly anything of them is in the processor's cache,
 * and those who send feel it; so each is looked at once, and after that only when it is dirty. What was seen lies side
 * by side in one list, where to go through it makes no garbage.
 */
export class LocalActorIndex<Seen extends object> implements ActorIndex<Seen> {
  readonly #shards: () => Iterable<OwnedShard>;
  readonly #see: (summary: ActorSummary) => Seen;
  /** An actor keeps its place, so that nobody who is going through them misses it; `undefined`: free. */
  readonly #seen: (Seen | undefined)[] = [];
  readonly #free: number[] = [];
  /** Places by shard and address text. */
  readonly #places = new Map<OwnedShard, Map<string, number>>();

  /** `see` makes of a summary what is to be kept of it. */
  constructor(shards: () => Iterable<OwnedShard>, see: (summary: ActorSummary) => Seen) {
    this.#shards = shards;
    this.#see = see;
  }

  async each(visit: (seen: Seen) => void): Promise<void> {
    await this.#look();
    const yielder = new Yielder();
    for (let place = 0; place < this.#seen.length; place += 1) {
      const seen = this.#seen[place];
      if (seen !== undefined) visit(seen);
      if (yielder.isOver()) await yielder.next();
    }
  }

  /** Looks at all that is dirty when this was called; several may look at once. */
  async #look(): Promise<void> {
    const held = new Set(this.#shards());
    for (const shard of this.#places.keys()) if (!held.has(shard)) this.#forget(shard);
    await eachYielding(this.#dirty(), ([shard, text]) => this.#lookAt(shard, text));
  }

  /** Takes them out as it goes. What stirs meanwhile goes to the end, and is for the next look. */
  *#dirty(): IterableIterator<readonly [OwnedShard, string]> {
    for (const shard of this.#shards()) {
      const dirty = shard.dirty ?? this.#begin(shard);
      let left = dirty.size;
      for (const text of dirty) {
        if (left === 0) break;
        left -= 1;
        dirty.delete(text);
        yield [shard, text];
      }
    }
  }

  #begin(shard: OwnedShard): Set<string> {
    const places = this.#places.get(shard) ?? new Map<string, number>();
    this.#places.set(shard, places);
    shard.dirty = new Set([...places.keys(), ...shard.actors.keys(), ...shard.suspended]);
    return shard.dirty;
  }

  #forget(shard: OwnedShard): void {
    for (const place of this.#places.get(shard)?.values() ?? []) this.#clear(place);
    this.#places.delete(shard);
  }

  #clear(place: number): void {
    this.#seen[place] = undefined;
    this.#free.push(place);
  }

  #lookAt(shard: OwnedShard, text: string): void {
    // Lost while others went first.
    const places = this.#places.get(shard);
    if (places === undefined) return;
    const actor = shard.actors.get(text);
    let place = places.get(text);
    if (actor === undefined && !shard.suspended.has(text)) {
      if (place !== undefined) this.#clear(place);
      places.delete(text);
      return;
    }
    if (place === undefined) {
      place = this.#free.pop() ?? this.#seen.length;
      places.set(text, place);
    }
    const summary = actor?.summary() ?? untouched(addressOf(shard.number, text));
    this.#seen[place] = this.#see(summary);
    // With anything in hand it goes on to change without stirring again.
    const isAtRest =
      summary.status === 'suspended' || (actor?.isSettled === true && summary.state !== undefined);
    if (!isAtRest) shard.dirty?.add(text);
  }
}

/** A suspended actor that nobody asked for since the start of this process: nothing of it is in memory. */
function untouched(address: Address): ActorSummary {
  return { address, status: 'suspended', mailboxDepth: 0, oldestQueuedMs: 0, restarts: 0, state: undefined };
}
