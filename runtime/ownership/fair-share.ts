import type { NodeRecord, ShardRecord } from '../engine.ts';

/** What one node should do so that shards spread evenly. */
export interface SharePlan {
  /** Free shards to claim now. */
  readonly claims: readonly number[];
  /** Shards of this node that others are owed. */
  readonly releases: readonly number[];
  /** Shards that stand in this node's name and that it does not run (a claim whose answer was lost), beyond its share. */
  readonly strays: readonly number[];
}

/**
 * Every node gets the same number of shards, give or take one; who gets the odd ones follows from the order of node
 * ids, so all nodes that see the same list come to the same plan without talking. A node starts looking for free
 * shards at a place of its own, so that several seldom reach for the same.
 */
export function planShare(options: {
  readonly records: readonly ShardRecord[];
  readonly nodes: readonly NodeRecord[];
  readonly incarnation: string;
  /** Shards that this node runs, those on their way out not counted. */
  readonly held: ReadonlySet<number>;
  /** Shards that this node is handing over. */
  readonly leaving: ReadonlySet<number>;
  /** Incarnations that are stopping: they get no share, and what they still own is not free. */
  readonly stopping: ReadonlySet<string>;
  /** True while nodes without a lease may only not have reached Redis: what they own is not free then. */
  readonly takeoverGrace: boolean;
}): SharePlan {
  const { records, nodes, incarnation, held, leaving, stopping, takeoverGrace } = options;
  const alive = new Set(nodes.map((node) => node.incarnation));
  const sharers = nodes.filter((node) => !stopping.has(node.incarnation));
  const place = sharers.findIndex((node) => node.incarnation === incarnation);
  if (place === -1) return { claims: [], releases: [], strays: [] };
  const total = records.length;
  const quota = Math.floor(total / sharers.length) + (place < total % sharers.length ? 1 : 0);

  const claims: number[] = [];
  const strays: number[] = [];
  const start = Math.floor((place * total) / sharers.length);
  for (let step = 0; step < total; step += 1) {
    const shard = (start + step) % total;
    if (held.has(shard) || leaving.has(shard)) continue;
    const { owner } = records[shard] as ShardRecord;
    const isFree = owner === undefined || owner === incarnation || (!alive.has(owner) && !takeoverGrace);
    if (isFree && held.size + claims.length < quota) claims.push(shard);
    else if (owner === incarnation) strays.push(shard);
  }
  const surplus = Math.max(0, held.size - quota);
  return { claims, releases: surplus === 0 ? [] : [...held].slice(-surplus), strays };
}
