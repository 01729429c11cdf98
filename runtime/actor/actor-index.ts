import type { ActorIndex, ActorSummary } from '../actors.ts';
import { type Address, addressOf } from '../address.ts';
import type { OwnedShard } from '../ownership/owned-shard.ts';
import { eachYielding, Yielder } from '../yielder.ts';

/**
 * Keeps a summary of each actor. Summarising ten thousand actors takes tens of milliseconds, since few of them
 * are in the processor's cache, and delays sends; so an actor is summarised once, and again only when it is
 * dirty. Summaries lie in one list, and going through it makes no garbage
 * (docs/decisions/010-operators-look-at-what-changed.md).
 */
export class LocalActorIndex<Seen extends object> implements ActorIndex<Seen> {
  readonly #shards: () => Iterable<OwnedShard>;
  readonly #see: (summary: ActorSummary) => Seen;
  /** Summaries by place. An actor keeps its place, so that a visit under way does not miss it; `undefined`: free. */
  readonly #seen: (Seen | undefined)[] = [];
  readonly #free: number[] = [];
  /** Places by shard and address text. */
  readonly #places = new Map<OwnedShard, Map<string, number>>();

  /** `see` turns a summary into what the index keeps of it. */
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

  /** Summarises every actor that is dirty when this is called. Several calls may be under way at once. */
  async #look(): Promise<void> {
    const held = new Set(this.#shards());
    for (const shard of this.#places.keys()) if (!held.has(shard)) this.#forget(shard);
    await eachYielding(this.#dirty(), ([shard, text]) => this.#lookAt(shard, text));
  }

  /** Takes dirty actors out one by one. An actor that becomes dirty meanwhile goes to the end, for the next call. */
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
    // The shard was lost between two slices.
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
    // With something in hand it changes again without becoming dirty.
    const isAtRest =
      summary.status === 'suspended' || (actor?.isSettled === true && summary.state !== undefined);
    if (!isAtRest) shard.dirty?.add(text);
  }
}

/** A suspended actor that was not asked for since the start of this process, so that nothing of it is in memory. */
function untouched(address: Address): ActorSummary {
  return { address, status: 'suspended', mailboxDepth: 0, oldestQueuedMs: 0, restarts: 0, state: undefined };
}
