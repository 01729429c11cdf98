import type { Read, Write } from './store.ts';

/** The owner's record of a shard, as Redis holds it: one string a shard, changed only by scripts that compare it first. */
export interface ShardRecord {
  /** The incarnation that owns it; `undefined`: none. */
  readonly owner: string | undefined;
  /** Rises by one whenever the owner changes or an owner settles what it does not know. Never falls. */
  readonly epoch: number;
  /** Rises by one with every batch. */
  readonly revision: number;
  /** Wall-clock time of the last commit, in milliseconds since the Unix epoch. */
  readonly wallMs: number;
}

/** The record of a shard that no node has claimed yet. */
export const unclaimedRecord: ShardRecord = { owner: undefined, epoch: 0, revision: 0, wallMs: 0 };

/** The record as text: `owner epoch revision wallMs`, `-` for no owner. */
export function recordText(record: ShardRecord): string {
  return `${record.owner ?? '-'} ${record.epoch} ${record.revision} ${record.wallMs}`;
}

/** Reads `recordText` back. An absent key is a shard that was never claimed. */
export function parseRecord(text: string | null | undefined): ShardRecord {
  if (text === null || text === undefined || text === '') return unclaimedRecord;
  const [owner, epoch, revision, wallMs] = text.split(' ');
  return {
    owner: owner === '-' ? undefined : owner,
    epoch: Number(epoch),
    revision: Number(revision),
    wallMs: Number(wallMs),
  };
}

/** One shard's part of a batch: applied whole when the record is `expected`, not at all otherwise. */
export interface CommitSection {
  readonly shard: number;
  /** The record's text as this node knows it. */
  readonly expected: string;
  /** The record's text after this batch. */
  readonly next: string;
  /** The turns whose writes these are, one an entry. */
  readonly entries: readonly { readonly writes: readonly Write[] }[];
}

/** The outcome of a section. */
export interface SectionOutcome {
  /**
   * `committed`: applied. `unknown`: sent, and no answer came. Otherwise nothing was applied: `fenced` means that the
   * record is another one, `unavailable` that Redis refused or was not reached.
   */
  readonly code: 'committed' | 'fenced' | 'unavailable' | 'unknown';
  /** With `fenced`: the record that is there. */
  readonly actual?: ShardRecord;
  /** Turns of a committed section with a write that Redis refused (wrong type), by index, with its message. */
  readonly failures?: ReadonlyMap<number, string>;
  /** Why, for the log. */
  readonly message?: string;
}

/** A node whose lease holds. */
export interface NodeRecord {
  readonly nodeId: string;
  readonly incarnation: string;
}

/** A server's report of itself, as far as the runtime depends on it. */
export interface ServerState {
  /** Its address in a cluster, `redis` where there is one. */
  readonly name: string;
  readonly version: string;
  readonly isMaster: boolean;
  /** Share of `maxmemory` in use; 0 when there is no bound. */
  readonly memoryUse: number;
  /** `maxmemory-policy`. */
  readonly evictionPolicy: string;
  readonly isAppendOnly: boolean;
  /** False after its last write of the append-only file or of a snapshot failed. */
  readonly writesToDisk: boolean;
  /** Replicas that follow it now. */
  readonly replicas: number;
  /** `min-replicas-to-write` asks for at least one: it refuses writes that no replica is there for. */
  readonly waitsForReplicas: boolean;
}

/** Why a registration changed nothing. */
export const LATER_PROCESS = 'A process that started later has registered under this node id';

/**
 * Everything the runtime asks of Redis. Two implementations, one conformance suite: Redis, and a memory with
 * injected faults for simulations. Rejections are `RuntimeFailure`: `STORE_UNAVAILABLE`, nothing was changed, or
 * `OUTCOME_UNKNOWN`, it may have been.
 */
export interface Engine {
  /** Never rejects; one outcome a section, in order. */
  commit(sections: readonly CommitSection[]): Promise<SectionOutcome[]>;
  read(reads: readonly Read[]): Promise<unknown[]>;
  readBytes(reads: readonly Read[]): Promise<unknown[]>;
  append(writes: readonly Read[]): Promise<unknown[]>;

  /**
   * Makes the incarnation the only one of its node id, with a lease; the one before loses its own at once. Rejects, and
   * changes nothing, where another call for the node id that began after this one came first.
   */
  register(nodeId: string, incarnation: string, leaseMs: number): Promise<void>;
  /** Lengthens a lease that still holds. False: it does not, and never will again. */
  renew(nodeId: string, incarnation: string, leaseMs: number): Promise<boolean>;
  /** Ends the lease and forgets the node, unless another incarnation has replaced it. */
  resign(nodeId: string, incarnation: string): Promise<void>;
  /** All nodes whose lease holds. */
  nodes(): Promise<NodeRecord[]>;

  /** The records of all shards, by number. */
  records(): Promise<ShardRecord[]>;
  /** Gives the shard to `owner` with the next epoch when its epoch is `epoch`; answers the record that then holds. */
  changeOwner(
    shard: number,
    epoch: number,
    owner: string | undefined,
  ): Promise<{ readonly changed: boolean; readonly record: ShardRecord }>;

  /** Calls every listener of the channel on every node. Resolves with their number, if Redis reports it. */
  publish(channel: string, message: string): Promise<number | undefined>;
  subscribe(channel: string, listener: (message: string) => void): Promise<void>;

  /** Redis' own clock, in milliseconds since the Unix epoch. */
  timeMs(): Promise<number>;
  /** Reads the state of the servers that hold the data: one, or the masters of a cluster that answer. */
  servers(): Promise<readonly ServerState[]>;
  /** Whether writes can be sent now, and a call whenever that turns true. */
  available(): boolean;
  onAvailable(listener: () => void): void;
  close(): Promise<void>;
}
