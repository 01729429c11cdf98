import type { Clock } from '../clock.ts';
import { type NodeRecord, parseRecord, recordText, type ShardRecord, UNCLAIMED_RECORD } from '../engine.ts';
import type { RuntimeLimits } from '../limits.ts';

/** A node as an operator sees it. */
export interface NodeView {
  readonly nodeId: string;
  readonly incarnation: string;
  readonly shards: number;
  readonly isSelf: boolean;
}

/** A shard as an operator sees it. */
export interface ShardView {
  readonly shard: number;
  readonly owner: { readonly nodeId: string; readonly incarnation: string } | undefined;
  readonly epoch: number;
  readonly isMine: boolean;
}

/** The owner of a shard, and its epoch. */
export interface ShardOwner {
  readonly nodeId: string;
  readonly incarnation: string;
  readonly epoch: number;
}

/** Returns the node id from which an incarnation was made. */
export function nodeIdOf(incarnation: string): string {
  return incarnation.slice(0, incarnation.lastIndexOf(':'));
}

/**
 * The owners of all shards, from the last notices and checks. It may be outdated, and never decides about a write. It
 * saves a request to Redis for every forwarded request.
 */
export class OwnershipView {
  #records: ShardRecord[];
  #nodes: readonly NodeRecord[] = [];
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #stoppingMs: number;
  /** Incarnations that announced that they are stopping, with the monotonic time until which that is believed. */
  readonly #stopping = new Map<string, number>();

  constructor(
    shards: number,
    clock: Pick<Clock, 'monotonicMs'>,
    { settleMs, answerMs, leaseMs }: Pick<RuntimeLimits, 'settleMs' | 'answerMs' | 'leaseMs'>,
  ) {
    this.#records = Array.from({ length: shards }, () => UNCLAIMED_RECORD);
    this.#clock = clock;
    this.#stoppingMs = settleMs + answerMs + leaseMs;
  }

  /** Incarnations that are stopping, by their own notices. */
  get stopping(): Pick<ReadonlySet<string>, 'has'> {
    return this.#stopping;
  }

  /**
   * Notes that a node announced its stop. That is believed for as long as a stop takes from there to the end of the
   * lease. Notices are not sealed, so a forged one must not keep a node without a share for longer.
   */
  learnStopping(incarnation: string): void {
    this.#stopping.set(incarnation, this.#clock.monotonicMs() + this.#stoppingMs);
  }

  get records(): readonly ShardRecord[] {
    return this.#records;
  }

  get nodes(): readonly NodeRecord[] {
    return this.#nodes;
  }

  replace(nodes: readonly NodeRecord[], records: readonly ShardRecord[]): void {
    this.#nodes = nodes;
    this.#records = [...records];
    const nowMs = this.#clock.monotonicMs();
    for (const [incarnation, untilMs] of this.#stopping) {
      const isAlive = nodes.some((node) => node.incarnation === incarnation);
      if (!isAlive || untilMs <= nowMs) this.#stopping.delete(incarnation);
    }
  }

  /** Takes in a record, unless its epoch is before that of the known one. */
  learn(shard: number, record: ShardRecord): void {
    const knownRecord = this.#records[shard];
    if (knownRecord !== undefined && record.epoch >= knownRecord.epoch) this.#records[shard] = record;
  }

  /** Returns the owner of a shard in its newest known record. Its lease may have ended. */
  ownerOf(shard: number): ShardOwner | undefined {
    const record = this.#records[shard];
    if (record?.owner === undefined) return undefined;
    return { nodeId: nodeIdOf(record.owner), incarnation: record.owner, epoch: record.epoch };
  }

  incarnationOf(nodeId: string): string | undefined {
    return this.#nodes.find((node) => node.nodeId === nodeId)?.incarnation;
  }
}

/** Returns the notice of a change of ownership between nodes: lines `shard record`, or `stopping incarnation`. */
export function changeNotice(changes: ReadonlyMap<number, ShardRecord>, stoppingNode?: string): string {
  const lines = [...changes].map(([shard, record]) => `${shard} ${recordText(record)}`);
  if (stoppingNode !== undefined) lines.push(`stopping ${stoppingNode}`);
  return lines.join('\n');
}

/** Takes a notice into the view. */
export function learnNotice(view: OwnershipView, notice: string): void {
  for (const line of notice.split('\n')) {
    const space = line.indexOf(' ');
    const head = line.slice(0, space);
    if (head === 'stopping') view.learnStopping(line.slice(space + 1));
    else if (head !== '') view.learn(Number(head), parseRecord(line.slice(space + 1)));
  }
}
