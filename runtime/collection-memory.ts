import type { Lookup, Read, Write } from './store.ts';

/** A collection with more members is asked in Redis each time. */
const LARGEST_COLLECTION = 1_024;

/** How many members one shard remembers in all; the collections learnt first make room. */
const MEMBERS_PER_SHARD = 8_192;

/** A collection that is being read whole. */
export interface Load {
  readonly key: string;
  readonly scan: Read;
}

/**
 * The small hashes and sets of one shard, whole, as they stand in Redis: who is a customer, who wrote, who was
 * declared. Exact, because all writes to a shard's keys are its owner's commits: each forgets what it touches when it
 * is sent and again when it is answered, and a collection that was read across one of these moments is not kept.
 */
export class CollectionMemory {
  /** By key; `large`: known not to fit. */
  readonly #held = new Map<string, ReadonlyMap<string, string> | 'large'>();
  readonly #loading = new Map<string, Load>();
  #members = 0;

  /** What Redis would answer; undefined when it must be asked. */
  answer([command, key, member]: Lookup): string | number | null | undefined {
    const held = this.#held.get(key);
    if (held === undefined || held === 'large') return undefined;
    return command === 'HGET' ? (held.get(member) ?? null) : Number(held.has(member));
  }

  /** What to read, beside the answers themselves, so that the next such questions need no reading. */
  begin(lookups: readonly Lookup[]): Load[] {
    const loads: Load[] = [];
    for (const [command, key] of lookups) {
      if (this.#held.has(key) || this.#loading.has(key)) continue;
      const scan = command === 'HGET' ? 'HSCAN' : 'SSCAN';
      const load: Load = { key, scan: [scan, key, 0, 'COUNT', LARGEST_COLLECTION] };
      this.#loading.set(key, load);
      loads.push(load);
    }
    return loads;
  }

  /** Keeps what was read, in the order of `loads`; `replies` undefined: nothing could be read. */
  finish(loads: readonly Load[], replies: readonly unknown[] | undefined): void {
    for (const [index, load] of loads.entries()) {
      if (this.#loading.get(load.key) !== load) continue;
      this.#loading.delete(load.key);
      if (replies !== undefined) this.#keep(load, replies[index] as [cursor: string, flat: string[]]);
    }
  }

  /** Forgets every collection that these writes touch. */
  forget(writes: readonly Write[]): void {
    for (const [, key] of writes) {
      if (this.#held.size > 0) this.#drop(key);
      if (this.#loading.size > 0) this.#loading.delete(key);
    }
  }

  #keep({ key, scan }: Load, [cursor, flat]: readonly [cursor: string, flat: readonly string[]]): void {
    const step = scan[0] === 'HSCAN' ? 2 : 1;
    const fits = cursor === '0' && flat.length <= LARGEST_COLLECTION * step;
    const members = new Map<string, string>();
    if (fits) {
      for (let index = 0; index < flat.length; index += step) {
        members.set(flat[index] as string, step === 2 ? (flat[index + 1] as string) : '');
      }
    }
    this.#held.set(key, fits ? members : 'large');
    this.#members += weight(members);
    // A Map keeps its order of insertion.
    for (const oldest of this.#held.keys()) {
      if (this.#members <= MEMBERS_PER_SHARD) break;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    const held = this.#held.get(key);
    if (held === undefined) return;
    this.#held.delete(key);
    this.#members -= held === 'large' ? 1 : weight(held);
  }
}

/** An empty collection takes room too. */
function weight(members: ReadonlyMap<string, string>): number {
  return members.size + 1;
}
