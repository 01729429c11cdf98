import type { Read, RedisCommand, RepliesTo, Write } from './store.ts';

/** The owner's record of a shard in Redis: one string a shard. Only scripts change it, and they first compare it. */
export interface ShardRecord {
  /** The incarnation that owns it; `undefined`: none. */
  readonly owner: string | undefined;
  /** Rises by one when the owner changes, or when an owner settles an unknown outcome. Never falls. */
  readonly epoch: number;
  /** Rises by one with every commit. */
  readonly revision: number;
  /** Wall-clock time of the last commit, in milliseconds since the Unix epoch. */
  readonly wallMs: number;
}

/** The record of a shard that no node has claimed yet. */
export const UNCLAIMED_RECORD: ShardRecord = { owner: undefined, epoch: 0, revision: 0, wallMs: 0 };

/** Returns the record as text: `owner epoch revision wallMs`, with `-` for no owner. */
export function recordText(record: ShardRecord): string {
  return `${record.owner ?? '-'} ${record.epoch} ${record.revision} ${record.wallMs}`;
}

/** Reads `recordText` back. An absent key is a shard that was never claimed. */
export function parseRecord(text: string | null | undefined): ShardRecord {
  if (text === null || text === undefined || text === '') return UNCLAIMED_RECORD;
  const [owner, epoch, revision, wallMs] = text.split(' ');
  return {
    owner: owner === '-' ? undefined : owner,
    epoch: Number(epoch),
    revision: Number(revision),
    wallMs: Number(wallMs),
  };
}

/**
 * One shard's part of a group of commits. Nothing of it is applied unless the record is `expected`. A write that Redis
 * refuses is left out (`SectionOutcome.failures`), and the others are applied.
 */
export interface CommitSection {
  readonly shard: number;
  /** The record's text that this node expects. */
  readonly expected: string;
  /** The record's text after this commit. */
  readonly next: string;
  /** The turns of these writes, one an entry. */
  readonly entries: readonly { readonly writes: readonly Write[] }[];
}

/** The outcome of a section. */
export interface SectionOutcome {
  /**
   * `committed`: applied. `unknown`: sent, without a reply. Otherwise nothing was applied: `fenced` means that Redis
   * has another record, `unavailable` that Redis refused or was not reached. `failed` means that a defect kept the
   * section from being sent. A second attempt may succeed after `unavailable`, but not after `failed`.
   */
  readonly code: 'committed' | 'fenced' | 'unavailable' | 'failed' | 'unknown';
  /** With `fenced`: the record that is there. */
  readonly actual?: ShardRecord;
  /**
   * With `committed`: the turns with a write that Redis refused, for example for the type of its key. With `failed`:
   * the turns with the defect, if it is known which they are. The others can be sent again. By index, with a message.
   */
  readonly failures?: ReadonlyMap<number, string>;
  /** Why, for the log. */
  readonly message?: string;
}

/** A node with a valid lease. */
export interface NodeRecord {
  readonly nodeId: string;
  readonly incarnation: string;
}

/** A server's report of itself, as far as the runtime depends on it. */
export interface ServerState {
  /** Its address in a cluster, otherwise `redis`. */
  readonly name: string;
  readonly version: string;
  readonly isMaster: boolean;
  /** The used part of `maxmemory`, or 0 if there is no limit. */
  readonly memoryUse: number;
  /** `maxmemory-policy`. */
  readonly evictionPolicy: string;
  readonly isAppendOnly: boolean;
  /** False after its last write of the append-only file or of a snapshot failed. */
  readonly writesToDisk: boolean;
  /** Replicas that follow it now. */
  readonly replicas: number;
  /** True if `min-replicas-to-write` is at least one: Redis then refuses writes without a replica. */
  readonly waitsForReplicas: boolean;
}

/** The reason why a registration changed nothing. */
export const LATER_PROCESS = 'a process that started later has registered under this node id';

/**
 * All requests of the runtime to Redis. There are two implementations: Redis, and a memory with injected faults for
 * simulations. One suite tests both (`tests/runtime/engine-conformance.ts`).
 *
 * Rejections are `RuntimeFailure`: with `STORE_UNAVAILABLE` nothing was changed, with `OUTCOME_UNKNOWN` something may
 * have been. A command that Redis refuses for a mistake of ours rejects with another error.
 */
export interface Engine {
  /** Never rejects. Returns one outcome a section, in order. */
  commit(sections: readonly CommitSection[]): Promise<SectionOutcome[]>;
  read<const Reads extends readonly Read[]>(reads: Reads): Promise<RepliesTo<Reads>>;
  /** See `Store`. */
  readConfirmed<const Reads extends readonly Read[]>(reads: Reads): Promise<RepliesTo<Reads>>;
  readBytes<const Reads extends readonly Read[]>(reads: Reads): Promise<RepliesTo<Reads, Buffer>>;
  append(writes: readonly RedisCommand[]): Promise<unknown[]>;

  /**
   * Makes the incarnation the only one of its node id, with a lease. The previous incarnation loses its lease at once.
   * Rejects, and changes nothing, if a later call for the node id came first.
   */
  register(nodeId: string, incarnation: string, leaseMs: number): Promise<void>;
  /** Extends a lease that is still valid. Returns false if it is not; it is then never valid again. */
  renew(nodeId: string, incarnation: string, leaseMs: number): Promise<boolean>;
  /** Ends the lease and forgets the node, unless another incarnation has replaced it. */
  resign(nodeId: string, incarnation: string): Promise<void>;
  /** All nodes with a valid lease. */
  nodes(): Promise<NodeRecord[]>;

  /** The records of all shards, by number. */
  records(): Promise<ShardRecord[]>;
  /** Gives the shard to `owner` with the next epoch if its epoch is `epoch`. Returns the record after that. */
  changeOwner(
    shard: number,
    epoch: number,
    owner: string | undefined,
  ): Promise<{ readonly isChanged: boolean; readonly record: ShardRecord }>;

  /** Calls every listener of the channel on every node. Resolves with their number, if Redis reports it. */
  publish(channel: string, message: string): Promise<number | undefined>;
  subscribe(channel: string, listener: (message: string) => void): Promise<void>;
  /** Calls the channel's listener of this node no more. Redis may learn it later, or by the end of the connection. */
  unsubscribe(channel: string): void;

  /** Redis' own clock, in milliseconds since the Unix epoch. */
  timeMs(): Promise<number>;
  /** Reads the state of the servers with the data: one server, or the masters of a cluster that answer. */
  servers(): Promise<readonly ServerState[]>;
  /** True if writes can be sent now. */
  isAvailable(): boolean;
  /** Calls back when the connection of the commits is ready. */
  onAvailable(listener: () => void): void;
  close(): Promise<void>;
}
