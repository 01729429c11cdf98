import type { MaybePromise } from './maybe-promise.ts';

/** A value in a form that Redis accepts. */
export type RedisArgument = string | number | Buffer;

/**
 * Commands a turn may write with. Each touches one key, the first argument. All are Redis' own but two.
 *
 * `XTRIMOLD` takes a position in a stream. It drops the entries before the newest entry older than that, a whole node
 * of the stream at a time. `HDELIF` takes a field and a value: it deletes the field if it still has that value.
 * `UNLINK` is for keys that may be large: Redis frees them in the background.
 */
export type WriteCommand =
  | 'SET'
  | 'DEL'
  | 'UNLINK'
  | 'PEXPIREAT'
  | 'HSET'
  | 'HDEL'
  | 'HDELIF'
  | 'HINCRBY'
  | 'RPUSH'
  | 'LSET'
  | 'LTRIM'
  | 'SADD'
  | 'SREM'
  | 'ZADD'
  | 'ZREM'
  | 'ZREMRANGEBYLEX'
  | 'ZREMRANGEBYSCORE'
  | 'ZREMRANGEBYRANK'
  | 'XADD'
  | 'XTRIMOLD';

/** One change in Redis, as data: command, key, arguments. Its key must have the hash tag of its shard. */
export type Write = readonly [command: WriteCommand, key: string, ...args: RedisArgument[]];

/** Any command of Redis, as data. */
export type RedisCommand = readonly [command: string, key: string, ...args: RedisArgument[]];

/**
 * The commands that are read with, and what Redis replies to each. `Value` is the form of a stored value: text, or
 * bytes. No option in use changes the form of a reply. `SRANDMEMBER` is always sent with a count.
 */
interface Replies<Value> {
  readonly EXISTS: number;
  readonly GET: Value | null;
  readonly HGET: Value | null;
  readonly HGETALL: Value[];
  readonly HKEYS: Value[];
  readonly HMGET: readonly (Value | null)[];
  readonly HSCAN: [cursor: Value, fieldsAndValues: Value[]];
  readonly HVALS: Value[];
  readonly LLEN: number;
  readonly LRANGE: Value[];
  readonly MGET: (Value | null)[];
  readonly SISMEMBER: number;
  readonly SMEMBERS: Value[];
  readonly SMISMEMBER: number[];
  readonly SRANDMEMBER: Value[];
  readonly SSCAN: [cursor: Value, members: Value[]];
  /** Names and values, which have any form. */
  readonly XINFO: unknown[];
  readonly XRANGE: [id: Value, fields: Value[]][];
  readonly XREVRANGE: [id: Value, fields: Value[]][];
  readonly ZRANGE: Value[];
  readonly ZRANGEBYLEX: Value[];
  readonly ZRANGEBYSCORE: Value[];
  readonly ZREVRANGE: Value[];
  readonly ZREVRANGEBYLEX: Value[];
  readonly ZSCORE: Value | null;
}

/** The reply to a command. */
export type ReplyTo<Command extends keyof Replies<Value>, Value = string> = Replies<Value>[Command];

/** One read of Redis, as data. */
export type Read<Command extends keyof Replies<string> = keyof Replies<string>> = readonly [
  command: Command,
  key: string,
  ...args: RedisArgument[],
];

/** The replies to reads, in their order. */
export type RepliesTo<Reads extends readonly Read[], Value = string> = {
  -readonly [Index in keyof Reads]: ReplyTo<Reads[Index][0], Value>;
};

/**
 * A lookup in a hash or set of a shard. It is for one member, or for fields of a hash that are always requested
 * together. Such a group is known by its first field. All lookups in a key are of one kind.
 */
export type Lookup =
  | readonly [command: 'HGET' | 'SISMEMBER', key: string, member: string]
  | readonly [command: 'HMGET', key: string, ...fields: string[]];

/**
 * The durable store for the layers above. Reads see every commit that was acknowledged before them. Rejects with
 * `STORE_UNAVAILABLE` if Redis cannot answer. A write to a shard that this node lost rejects with `SHARD_NOT_OWNED` and
 * changes nothing.
 */
export interface Store {
  /** Resolves with the replies in order, in one round trip. All reads of a tick travel together. Values are text. */
  read<const Reads extends readonly Read[]>(reads: Reads): Promise<RepliesTo<Reads>>;
  /**
   * Like `read`, for what a failover may not take back. If commits must be on a replica, it resolves once those are
   * that the replies show. Rejects with `STORE_UNAVAILABLE` if no replica confirms that.
   */
  readConfirmed<const Reads extends readonly Read[]>(reads: Reads): Promise<RepliesTo<Reads>>;
  /**
   * Like `read`, for collections of one shard that only its commits change. Answers at once from memory if this node
   * owns the shard, and the collection is small and was read before. From memory, the answer to `HMGET` is the same
   * array until the fields are read again.
   */
  lookUp<const Lookups extends readonly Lookup[]>(
    shard: number,
    lookups: Lookups,
  ): MaybePromise<RepliesTo<Lookups>>;
  /**
   * Returns the answer of `lookUp` to one lookup if memory has it, else undefined. Reads nothing from Redis. A caller
   * with few lookups makes no lists for it.
   */
  known<Command extends 'HGET' | 'SISMEMBER'>(
    shard: number,
    command: Command,
    key: string,
    member: string,
  ): ReplyTo<Command> | undefined;
  /** Like `known`, for fields of a hash that are requested together, by the first of them. */
  knownFields(shard: number, key: string, field: string): readonly (string | null)[] | undefined;
  /** Like `read`, with values as bytes. */
  readBytes<const Reads extends readonly Read[]>(reads: Reads): Promise<RepliesTo<Reads, Buffer>>;
  /**
   * Commits these writes together, behind the fence. Nothing is applied unless this node owns the shard at its current
   * epoch. Rejects with an error that is no `RuntimeFailure` if Redis refuses one of the writes, for example for the
   * type of its key. The other writes are then applied.
   */
  commit(shard: number, writes: readonly Write[]): Promise<void>;
  /**
   * Writes that no shard owns (key index, request log), unfenced. All of a tick travel together. Any command. Rejects
   * if one fails; others may have been applied.
   */
  append(writes: readonly RedisCommand[]): Promise<unknown[]>;
}

/** Reads a hash by its fields from the flat list of fields and values that `HGETALL` answers. */
export function hashFields(pairs: readonly string[]): Map<string, string> {
  const fields = new Map<string, string>();
  for (let index = 0; index + 1 < pairs.length; index += 2)
    fields.set(pairs[index] ?? '', pairs[index + 1] ?? '');
  return fields;
}
