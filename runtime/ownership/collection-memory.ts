import type { Lookup, Read, Write } from '../store.ts';

/** Lookups in a collection with more members go to Redis each time. */
const LARGEST_COLLECTION = 1_024;

/**
 * Most bytes that one shard remembers in all, counted as one for a character. The oldest collections are dropped first.
 */
const BYTES_PER_SHARD = 1024 * 1024;
/** Bytes for a collection and for each member, in addition to their text. */
const OVERHEAD_BYTES = 64;

/** Most fields per shard that are remembered as requested once. */
const ASKED_ONCE = 1_024;

/** A collection that is being read completely, or the fields of a hash that are requested together. */
export interface Load {
  readonly name: string;
  readonly scan: Read;
}

/**
 * The name under which a lookup is remembered: its key. For fields that are requested together, the first field
 * follows.
 */
export function nameOf([command, key, field]: Lookup): string {
  return command === 'HMGET' ? `${key} ${field}` : key;
}

/** The members of a collection as they stood in Redis, with their values in a hash; `large`: more than fit. */
type Members = ReadonlyMap<string, string> | 'large';

/** Values of the fields that are requested together. */
export type Fields = readonly (string | null)[];

/** The contents of a key in Redis, as far as they were requested. */
export type Collection = Members | Fields;

/** Returns Redis' answer, from a known collection; undefined if it is too large to be remembered. */
export function answerFrom(
  collection: Collection,
  [command, , member]: Lookup,
): string | number | null | Fields | undefined {
  return command === 'HMGET' ? (collection as Fields) : answerOf(collection as Members, command, member);
}

function answerOf(
  members: Members,
  command: 'HGET' | 'SISMEMBER',
  member: string,
): string | number | null | undefined {
  if (members === 'large') return undefined;
  return command === 'HGET' ? (members.get(member) ?? null) : Number(members.has(member));
}

/**
 * The small hashes and sets of one shard, complete, as they are in Redis. Examples: customers, people who wrote,
 * declared numbers, a message that is read often.
 *
 * It misses no write, because only the owner's commits write to a shard's keys. Each commit forgets what it touches,
 * when it is sent and again when it is answered. A collection that was read across one of these moments is not kept.
 *
 * Some hashes hold the messages of a day, and their fields are requested together. Only these fields are read and kept.
 * A write to one of them, or to the whole hash, forgets them.
 */
export class CollectionMemory {
  readonly #held = new Map<string, Collection>();
  readonly #loading = new Map<string, Load>();
  readonly #askedOnce = new Set<string>();
  /**
   * For each hash with fields that are requested together: the name under which each field is remembered or being read.
   */
  readonly #fields = new Map<string, Map<string, string>>();
  /** The lookups of these fields, by their name. */
  readonly #together = new Map<string, Lookup>();
  #bytes = 0;

  /** Fields of hashes that are remembered or being read. */
  get fieldCount(): number {
    return [...this.#fields.values()].reduce((sum, names) => sum + names.size, 0);
  }

  /** Returns Redis' reply, or undefined if Redis must be read. */
  answer(lookup: Lookup): ReturnType<typeof answerFrom> {
    const collection = this.#held.get(nameOf(lookup));
    return collection === undefined ? undefined : answerFrom(collection, lookup);
  }

  /** Like `answer`, for one member. */
  known(command: 'HGET' | 'SISMEMBER', key: string, member: string): ReturnType<typeof answerOf> {
    const members = this.#held.get(key) as Members | undefined;
    return members === undefined ? undefined : answerOf(members, command, member);
  }

  /** Like `answer`, for fields that are requested together, by the first of them. */
  knownFields(key: string, field: string): Fields | undefined {
    // A lookup with the table's own string is faster than with a new string of the same text.
    const name = this.#fields.get(key)?.get(field);
    const isFirst = name?.length === key.length + 1 + field.length && name.endsWith(field);
    return isFirst ? (this.#held.get(name) as Fields | undefined) : undefined;
  }

  /** Returns the reads after which the next such lookups need none. The other lookups must be sent one by one. */
  begin(lookups: readonly Lookup[]): Load[] {
    const loads: Load[] = [];
    for (const lookup of lookups) {
      const name = nameOf(lookup);
      if (this.#held.has(name) || this.#loading.has(name)) continue;
      if (lookup[0] === 'HMGET') {
        if (this.#isFirstAsk(name)) continue;
        this.#noteFields(lookup, name);
      }
      const load: Load = { name, scan: scanFor(lookup) };
      this.#loading.set(name, load);
      loads.push(load);
    }
    return loads;
  }

  /** True for the first lookup of a field. Most fields are looked up once, and caching one costs a tenth of a read. */
  #isFirstAsk(name: string): boolean {
    if (this.#askedOnce.delete(name)) return false;
    if (this.#askedOnce.size === ASKED_ONCE) this.#askedOnce.clear();
    this.#askedOnce.add(name);
    return true;
  }

  #noteFields(lookup: Lookup, name: string): void {
    const [, key, ...fields] = lookup;
    this.#together.set(name, lookup);
    const names = this.#fields.get(key) ?? new Map<string, string>();
    for (const field of fields) names.set(field, name);
    this.#fields.set(key, names);
  }

  /**
   * Caches what was read, in the order of `loads`, and returns it by name. `replies` is undefined if nothing could be
   * read.
   */
  finish(loads: readonly Load[], replies: readonly unknown[] | undefined): ReadonlyMap<string, Collection> {
    const collectionsRead = new Map<string, Collection>();
    for (const [index, load] of loads.entries()) {
      const collection = replies && collectionOf(load, replies[index]);
      if (collection !== undefined) collectionsRead.set(load.name, collection);
      if (this.#loading.get(load.name) !== load) continue;
      this.#loading.delete(load.name);
      if (collection !== undefined) this.#keep(load.name, collection);
      else this.#forgetTogether(load.name);
    }
    return collectionsRead;
  }

  /** Forgets every collection that these writes touch. */
  forget(writes: readonly Write[]): void {
    if (this.#held.size === 0 && this.#loading.size === 0) return;
    for (const write of writes) {
      const key = write[1];
      this.#forgetName(key);
      const names = this.#fields.get(key);
      if (names !== undefined) this.#forgetFields(write, names);
    }
  }

  #forgetFields([command, , ...args]: Write, names: Map<string, string>): void {
    if (command !== 'HSET' && command !== 'HDEL') {
      for (const name of names.values()) this.#forgetTogether(name);
      return;
    }
    const step = command === 'HSET' ? 2 : 1;
    for (let index = 0; index < args.length; index += step) {
      const name = names.get(String(args[index]));
      if (name !== undefined) this.#forgetTogether(name);
    }
  }

  /** Forgets fields that are requested together. Their names go too, since each message has some. */
  #forgetTogether(name: string): void {
    this.#forgetName(name);
    const [, key, ...fields] = this.#together.get(name) ?? [];
    if (key === undefined) return;
    this.#together.delete(name);
    const names = this.#fields.get(key);
    for (const field of fields) if (names?.get(field) === name) names.delete(field);
    if (names?.size === 0) this.#fields.delete(key);
  }

  #forgetName(name: string): void {
    this.#drop(name);
    this.#loading.delete(name);
  }

  /** Forgets everything; call it now and then, since Redis expires keys without a commit. */
  clear(): void {
    this.#held.clear();
    this.#loading.clear();
    this.#askedOnce.clear();
    this.#fields.clear();
    this.#together.clear();
    this.#bytes = 0;
  }

  #keep(name: string, collection: Collection): void {
    this.#held.set(name, collection);
    this.#bytes += bytesOf(name, collection);
    // A Map keeps its order of insertion.
    for (const oldestName of this.#held.keys()) {
      if (this.#bytes <= BYTES_PER_SHARD) break;
      this.#forgetTogether(oldestName);
    }
  }

  #drop(name: string): void {
    const collection = this.#held.get(name);
    if (collection === undefined) return;
    this.#held.delete(name);
    this.#bytes -= bytesOf(name, collection);
  }
}

/** Returns the read that covers all lookups of a key. */
function scanFor(lookup: Lookup): Read {
  const [command, key] = lookup;
  if (command === 'HMGET') return lookup;
  return [command === 'HGET' ? 'HSCAN' : 'SSCAN', key, 0, 'COUNT', LARGEST_COLLECTION];
}

/** Shared by all empty collections: most shops have some, and a shared object stays in the processor's cache. */
const NO_MEMBERS: Members = new Map<string, string>();

/** Reads a collection from the answer to `scanFor`. */
function collectionOf({ scan: [command] }: Load, reply: unknown): Collection {
  if (command === 'HMGET') return reply as Fields;
  const [cursor, pairs] = reply as [cursor: string, flat: string[]];
  const step = command === 'HSCAN' ? 2 : 1;
  if (cursor !== '0' || pairs.length > LARGEST_COLLECTION * step) return 'large';
  if (pairs.length === 0) return NO_MEMBERS;
  const members = new Map<string, string>();
  for (let index = 0; index < pairs.length; index += step)
    members.set(pairs[index] as string, step === 2 ? (pairs[index + 1] as string) : '');
  return members;
}

function bytesOf(name: string, collection: Collection): number {
  let bytes = name.length + OVERHEAD_BYTES;
  if (Array.isArray(collection)) {
    for (const value of collection as Fields) bytes += (value?.length ?? 0) + OVERHEAD_BYTES;
  } else if (collection !== 'large') {
    for (const [member, value] of collection as ReadonlyMap<string, string>)
      bytes += member.length + value.length + OVERHEAD_BYTES;
  }
  return bytes;
}
