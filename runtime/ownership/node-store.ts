import type { Engine } from '../engine.ts';
import type { MaybePromise } from '../maybe-promise.ts';
import { RuntimeFailure } from '../runtime-failure.ts';
import type { Lookup, Read, RedisCommand, RepliesTo, ReplyTo, Store, Write } from '../store.ts';
import {
  answerFrom,
  type Collection,
  type CollectionMemory,
  type Fields,
  type Load,
  nameOf,
} from './collection-memory.ts';
import { commitFailure } from './commitment.ts';
import type { GroupCommit } from './group-commit.ts';
import type { OwnedShard } from './owned-shard.ts';
import { checkWrites } from './turn-writes.ts';

/** The part of a look-up that memory could not answer. */
interface OpenLookups {
  readonly known: readonly unknown[];
  readonly unknown: readonly Lookup[];
  /** Reads whose results are cached. */
  readonly loads: readonly Load[];
}

/** The store as the layers above see it: reads and unfenced writes go to Redis, fenced ones join the group commit. */
export class NodeStore implements Store {
  readonly #engine: Engine;
  readonly #commits: GroupCommit;
  readonly #shard: (number: number) => OwnedShard | undefined;

  constructor(engine: Engine, commits: GroupCommit, shard: (number: number) => OwnedShard | undefined) {
    this.#engine = engine;
    this.#commits = commits;
    this.#shard = shard;
  }

  read<const Reads extends readonly Read[]>(reads: Reads): Promise<RepliesTo<Reads>> {
    return this.#engine.read(reads);
  }

  readConfirmed<const Reads extends readonly Read[]>(reads: Reads): Promise<RepliesTo<Reads>> {
    return this.#engine.readConfirmed(reads);
  }

  lookUp<const Lookups extends readonly Lookup[]>(
    number: number,
    lookups: Lookups,
  ): MaybePromise<RepliesTo<Lookups>> {
    const memory = this.#shard(number)?.memory;
    if (memory === undefined) return this.#engine.read(lookups);
    const answers = new Array<unknown>(lookups.length);
    let isKnown = true;
    for (let index = 0; index < lookups.length; index += 1) {
      answers[index] = memory.answer(lookups[index] as Lookup);
      isKnown &&= answers[index] !== undefined;
    }
    if (isKnown) return answers as RepliesTo<Lookups>;
    const unknownLookups = lookups.filter((_, index) => answers[index] === undefined);
    const loads = memory.begin(unknownLookups);
    // No value is cached, and none will be. A message that is read once is an example.
    if (loads.length === 0 && unknownLookups.length === lookups.length) return this.#engine.read(lookups);
    return this.#askForRest(memory, lookups, { known: answers, unknown: unknownLookups, loads });
  }

  known<Command extends 'HGET' | 'SISMEMBER'>(shard: number, command: Command, key: string, member: string) {
    return this.#shard(shard)?.memory.known(command, key, member) as ReplyTo<Command> | undefined;
  }

  knownFields(shard: number, key: string, field: string): Fields | undefined {
    return this.#shard(shard)?.memory.knownFields(key, field);
  }

  /** Reads the lookups that memory could not answer. It caches the collections that were read completely. */
  async #askForRest<const Lookups extends readonly Lookup[]>(
    memory: CollectionMemory,
    lookups: Lookups,
    { known, unknown, loads }: OpenLookups,
  ): Promise<RepliesTo<Lookups>> {
    // A complete read answers every lookup of its key.
    const singleLookups = unknown.filter((lookup) => !loads.some(({ name }) => name === nameOf(lookup)));
    let replies: unknown[] | undefined;
    let collectionsRead: ReadonlyMap<string, Collection>;
    try {
      replies = await this.#engine.read([...singleLookups, ...loads.map(({ scan }) => scan)]);
    } finally {
      collectionsRead = memory.finish(loads, replies?.slice(singleLookups.length));
    }
    const answers = lookups.map((lookup, index) => {
      if (known[index] !== undefined) return known[index];
      const collection = collectionsRead.get(nameOf(lookup));
      return collection === undefined
        ? replies[singleLookups.indexOf(lookup)]
        : answerFrom(collection, lookup);
    });
    // One collection is too large to be read completely.
    return answers.includes(undefined) ? this.#engine.read(lookups) : (answers as RepliesTo<Lookups>);
  }

  readBytes<const Reads extends readonly Read[]>(reads: Reads): Promise<RepliesTo<Reads, Buffer>> {
    return this.#engine.readBytes(reads);
  }

  append(writes: readonly RedisCommand[]): Promise<unknown[]> {
    return this.#engine.append(writes);
  }

  async commit(number: number, writes: readonly Write[]): Promise<void> {
    const shard = this.#shard(number);
    if (shard === undefined)
      throw new RuntimeFailure('SHARD_NOT_OWNED', `shard ${number} is not owned here`, 1);
    checkWrites(number, writes);
    await new Promise<void>((resolve, reject) => {
      this.#commits.add(shard, {
        writes,
        onSettled: (outcome, message) =>
          outcome === 'committed' ? resolve() : reject(commitFailure(outcome, message)),
      });
    });
  }
}
