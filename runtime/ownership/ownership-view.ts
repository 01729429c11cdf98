import { type NodeRecord, parseRecord, recordText, type ShardRecord, UNCLAIMED_RECORD } from '../engine.ts';

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
  /** Incarnations that announced that they are stopping. */
  readonly stopping = new Set<string>();

  constructor(shards: number) {
    this.#records = Array.from({ length: shards }, () => UNCLAIMED_RECORD);
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
    for (const incarnation of this.stopping) {
      if (!nodes.some((node) => node.incarnation === incarnation)) this.stopping.delete(incarnation);
    }
  }

  /** Takes in a record that is newer than the known one. */
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
    if (head === 'stopping') view.stopping.add(line.slice(space + 1));
    else if (head !== '') view.learn(Number(head), parseRecord(line.slice(space + 1)));
  }
}
