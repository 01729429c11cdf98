import type { NodeRecord, ShardRecord } from '../engine.ts';

/** The changes by which one node helps to spread the shards evenly. */
export interface SharePlan {
  /** Free shards to claim now. */
  readonly claims: readonly number[];
  /** Shards of this node that belong to the share of others. */
  readonly releases: readonly number[];
  /**
   * Shards that Redis records for this node, and that it neither runs nor claims now. The reply to its claim was lost.
   */
  readonly strays: readonly number[];
}

/** A node's view of all shards. */
interface ShareInput {
  readonly records: readonly ShardRecord[];
  readonly nodes: readonly NodeRecord[];
  readonly incarnation: string;
  /** Shards that this node runs, without those that it hands over. */
  readonly held: ReadonlySet<number>;
  /** Shards that this node is handing over. */
  readonly leaving: ReadonlySet<number>;
  /**
   * Incarnations that are stopping. They get no share, and the shards that they still own are not free. This node plans
   * nothing while it stops, so its own name here is from a forged notice and means nothing.
   */
  readonly stopping: Pick<ReadonlySet<string>, 'has'>;
  /** True while nodes without a lease may only not have reached Redis. Their shards are then not free. */
  readonly isInGrace: boolean;
}

/**
 * Plans one node's changes. Every node gets the same number of shards, give or take one. The order of node ids decides
 * who gets the odd ones. So all nodes that see the same list make the same plan without messages.
 *
 * Shards that were ever written to spread evenly too, since with few tenants only those carry work. This decides which
 * shards move, and never whether one moves: a hand-over interrupts live sessions, and each new tenant changes the
 * count. Each node starts to look for free shards at its own index, so several seldom reach for the same.
 */
export function planShare(input: ShareInput): SharePlan {
  const { records, nodes, incarnation, held, stopping } = input;
  const sharers = nodes.filter((node) => node.incarnation === incarnation || !stopping.has(node.incarnation));
  const place = sharers.findIndex((node) => node.incarnation === incarnation);
  if (place === -1) return { claims: [], releases: [], strays: [] };
  const share = (total: number): number =>
    Math.floor(total / sharers.length) + (place < total % sharers.length ? 1 : 0);
  const quota = share(records.length);
  const writtenShare = share(records.filter(isWritten).length);
  const isWrittenTo = (shard: number): boolean => isWritten(records[shard]);
  const ownWritten = [...held].filter(isWrittenTo);

  const start = Math.floor((place * records.length) / sharers.length);
  const { free, ours } = shardsNotRun(input, start);
  const room = Math.max(0, quota - held.size);
  const wantedCount = Math.min(room, Math.max(0, writtenShare - ownWritten.length));
  const writtenShards = free.filter(isWrittenTo);
  const first = writtenShards.slice(0, wantedCount);
  const otherShards = [...free.filter((shard) => !isWrittenTo(shard)), ...writtenShards.slice(wantedCount)];
  const claims = [...first, ...otherShards.slice(0, room - first.length)];
  const claimedShards = new Set(claims);

  const surplusCount = Math.max(0, held.size - quota);
  const tooMany = Math.min(surplusCount, Math.max(0, ownWritten.length - writtenShare));
  const releases = tooMany === 0 ? [] : ownWritten.slice(-tooMany);
  const keptShards = [...held].filter((shard) => !releases.includes(shard));
  // Shards without tenants go first: their move is not noticed.
  const orderedShards = [
    ...keptShards.filter(isWrittenTo),
    ...keptShards.filter((shard) => !isWrittenTo(shard)),
  ];
  if (surplusCount > tooMany) releases.push(...orderedShards.slice(tooMany - surplusCount));
  return { claims, releases, strays: ours.filter((shard) => !claimedShards.has(shard)) };
}

/**
 * Returns two lists of shards that this node does not run, in its order. It may claim those of `free`. Those of `ours`
 * are recorded for it.
 */
function shardsNotRun(
  { records, nodes, incarnation, held, leaving, isInGrace }: ShareInput,
  start: number,
): { readonly free: readonly number[]; readonly ours: readonly number[] } {
  const alive = new Set(nodes.map((node) => node.incarnation));
  const freeShards: number[] = [];
  const ownShards: number[] = [];
  for (let step = 0; step < records.length; step += 1) {
    const shard = (start + step) % records.length;
    if (held.has(shard) || leaving.has(shard)) continue;
    const { owner } = records[shard] as ShardRecord;
    const isFree = owner === undefined || owner === incarnation || (!alive.has(owner) && !isInGrace);
    if (isFree) freeShards.push(shard);
    if (owner === incarnation) ownShards.push(shard);
  }
  return { free: freeShards, ours: ownShards };
}

function isWritten(record: ShardRecord | undefined): boolean {
  return record !== undefined && record.revision > 0;
}
