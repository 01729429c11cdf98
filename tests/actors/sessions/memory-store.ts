import { checkWrites } from '../../../runtime/ownership/turn-writes.ts';
import type { Read, RepliesTo, Store, Write } from '../../../runtime/store.ts';
import { deferred } from '../../testbed/deferred.ts';

/** Commits that wait. */
export interface HeldCommits {
  readonly caught: Promise<void>;
  /** Lets the waiting commits continue, and holds back no others. */
  readonly release: () => void;
}

/** A store in memory that knows the hashes the sending component writes, for tests without Redis. */
export class MemoryStore implements Store {
  readonly hashes = new Map<string, Map<string, Buffer>>();
  /** When hashes expire, in milliseconds since the Unix epoch. This store drops none. */
  readonly expiries = new Map<string, number>();
  readonly commits: (readonly Write[])[] = [];
  /** Awaited before each commit is carried out; a throw refuses it. */
  beforeCommit: (writes: readonly Write[]) => Promise<void> | void = () => undefined;
  /** Awaited before each read; a throw refuses it. */
  beforeRead: (reads: readonly Read[]) => Promise<void> | void = () => undefined;

  /** Holds back every commit that matches until it is released; `caught` resolves with the first of them. */
  holdCommits(matches: (writes: readonly Write[]) => boolean): HeldCommits {
    const { promise: released, resolve: release } = deferred();
    const caught = new Promise<void>((resolve) => {
      this.beforeCommit = (writes) => {
        if (!matches(writes)) return undefined;
        resolve();
        return released;
      };
    });
    return { caught, release };
  }

  /** The fleet has no settings. */
  async read<const Reads extends readonly Read[]>(reads: Reads): Promise<RepliesTo<Reads>> {
    if (reads.some(([command]) => command !== 'GET')) throw new Error('the sending component reads bytes');
    return reads.map(() => null) as unknown[] as RepliesTo<Reads>;
  }

  readConfirmed(): Promise<never> {
    return Promise.reject(new Error('the sending component reads what it wrote'));
  }

  lookUp(): Promise<never> {
    return Promise.reject(new Error('the sending component reads bytes'));
  }

  known(): undefined {
    return undefined;
  }

  knownFields(): undefined {
    return undefined;
  }

  async readBytes<const Reads extends readonly Read[]>(reads: Reads): Promise<RepliesTo<Reads, Buffer>> {
    await this.beforeRead(reads);
    const answers = reads.map(([command, key, ...fields]): unknown => {
      const hash = this.hashes.get(key);
      if (command === 'HMGET') return fields.map((field) => hash?.get(String(field)) ?? null);
      if (command === 'HKEYS') return [...(hash?.keys() ?? [])].map((field) => Buffer.from(field));
      if (command === 'HSCAN') return scan(hash ?? new Map(), Number(fields[0]), Number(fields[2]));
      throw new Error(`the fixture does not know ${command}`);
    });
    return answers as RepliesTo<Reads, Buffer>;
  }

  async commit(shard: number, writes: readonly Write[]): Promise<void> {
    checkWrites(shard, writes);
    await this.beforeCommit(writes);
    this.commits.push(writes);
    for (const [command, key, ...otherArguments] of writes) {
      const hash = this.hashes.get(key) ?? new Map<string, Buffer>();
      if (command === 'DEL' || command === 'UNLINK') {
        this.hashes.delete(key);
      } else if (command === 'HSET') {
        for (let index = 0; index < otherArguments.length; index += 2)
          hash.set(String(otherArguments[index]), Buffer.from(otherArguments[index + 1] as Buffer));
        this.hashes.set(key, hash);
      } else if (command === 'PEXPIREAT') {
        this.expiries.set(key, Number(otherArguments[0]));
      } else if (command === 'HDEL') {
        for (const field of otherArguments) hash.delete(String(field));
      } else {
        throw new Error(`the fixture does not know ${command}`);
      }
    }
  }

  append(): Promise<unknown[]> {
    return Promise.reject(new Error('the sending component appends nothing'));
  }
}

/** Returns the start of the next part and the fields of this one, like Redis. */
function scan(
  hash: ReadonlyMap<string, Buffer>,
  from: number,
  count: number,
): [cursor: Buffer, pairs: Buffer[]] {
  const end = from + count;
  const next = end < hash.size ? end : 0;
  const part = [...hash].slice(from, end).flatMap(([field, value]) => [Buffer.from(field), value]);
  return [Buffer.from(String(next)), part];
}
