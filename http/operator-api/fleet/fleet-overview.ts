import * as v from 'valibot';
import { count, type ReplyOf } from '../../../actors/reply-schemas/reply-fields.ts';
import { eachYielding } from '../../../runtime/yielder.ts';
import {
  emptyInterval,
  INTERVAL_MS,
  KEPT_INTERVALS,
  LATENCY_BOUNDS_MS,
} from '../../metrics/recent-activity.ts';
import { askAllNodes, type OtherNodes } from '../../owner/ask-all-nodes.ts';
import type { overview, seriesPoint } from '../schemas/fleet-resources.ts';

/** The whole service on one page, without the lists of nodes and shards. */
export type Overview = Omit<ReplyOf<typeof overview>, 'nodes' | 'shards'>;

const counts = v.record(v.string(), count);

/** A share as another node sends it. */
const nodeShare = v.object({
  nodeId: v.string(),
  workers: v.picklist(['available', 'lost']),
  shops: count,
  queued: count,
  // 0.2.0 does not send it.
  scheduled: v.optional(count, 0),
  oldestMessageMs: v.nullable(v.number()),
  mailboxDepth: count,
  states: counts,
  suspendedTenants: v.array(v.string()),
  // `slots` is the name that nodes of 0.2.0 send and read.
  slots: v.array(
    v.object({
      atMs: v.number(),
      requests: count,
      errors: counts,
      latencies: v.array(count),
      messages: counts,
    }),
  ),
});

/** One node's part: its shops and its last minutes. `workers` is `lost` if no session of its shops can send. */
export type NodeShare = ReplyOf<typeof nodeShare>;

type Interval = NodeShare['slots'][number];

/** Returns the sum of all nodes' shares. A node that does not answer is named and left out. */
export async function fleetOverview(options: {
  own(): Promise<NodeShare>;
  readonly forwarder: OtherNodes;
  readonly nowMs: number;
}): Promise<Overview> {
  const { own, others, silentNodes } = await askAllNodes<NodeShare>(options.forwarder, {
    request: { kind: 'overview' },
    schema: nodeShare,
    own: options.own,
  });
  const allShares = [own, ...others.map(({ answer }) => answer)];
  const sum = (figureOf: (share: NodeShare) => number): number =>
    allShares.reduce((total, share) => total + figureOf(share), 0);
  return {
    shops: sum(({ shops }) => shops),
    queued: sum(({ queued }) => queued),
    scheduled: sum(({ scheduled }) => scheduled),
    mailboxDepth: sum(({ mailboxDepth }) => mailboxDepth),
    states: addUp(allShares.map(({ states }) => states)),
    slotMs: INTERVAL_MS,
    series: await series(
      allShares.flatMap(({ slots }) => slots),
      options.nowMs,
    ),
    suspendedTenants: allShares.flatMap(({ suspendedTenants }) => suspendedTenants),
    nodesWithoutWorkers: allShares.filter(({ workers }) => workers === 'lost').map(({ nodeId }) => nodeId),
    silentNodes,
  };
}

/**
 * Returns one point for each interval since the first in which something happened. The present one is left out. So are
 * intervals of a node whose clock is further behind than intervals are kept.
 */
async function series(
  intervals: readonly Interval[],
  nowMs: number,
): Promise<readonly ReplyOf<typeof seriesPoint>[]> {
  const byTime = new Map<number, Interval[]>();
  for (const interval of intervals)
    byTime.set(interval.atMs, [...(byTime.get(interval.atMs) ?? []), interval]);
  const points: ReplyOf<typeof seriesPoint>[] = [];
  const endMs = Math.floor(nowMs / INTERVAL_MS) * INTERVAL_MS;
  const oldestKeptMs = endMs - KEPT_INTERVALS * INTERVAL_MS;
  const startMs = Math.max(oldestKeptMs, Math.min(endMs, ...byTime.keys()));
  const count = (endMs - startMs) / INTERVAL_MS;
  const times = Array.from({ length: count }, (_, index) => startMs + index * INTERVAL_MS);
  await eachYielding(times, (atMs) => {
    points.push(pointOf(atMs, byTime.get(atMs) ?? [emptyInterval(atMs)]));
  });
  return points;
}

function pointOf(atMs: number, intervals: readonly Interval[]): ReplyOf<typeof seriesPoint> {
  const latencies = emptyInterval(atMs).latencies.map((_, bound) => total(intervals, bound));
  return {
    at: new Date(atMs).toISOString(),
    requests: intervals.reduce((sum, { requests }) => sum + requests, 0),
    errors: addUp(intervals.map(({ errors }) => errors)),
    messages: addUp(intervals.map(({ messages }) => messages)),
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
  };
}

function total(intervals: readonly Interval[], bound: number): number {
  return intervals.reduce((sum, { latencies }) => sum + (latencies[bound] ?? 0), 0);
}

/** Interpolates linearly within a bucket, as Prometheus does. Above the last bound it is that bound. */
function percentile(counts: readonly number[], share: number): number | null {
  const wantedCount = counts.reduce((sum, count) => sum + count, 0) * share;
  if (wantedCount === 0) return null;
  let countBelow = 0;
  for (const [index, count] of counts.entries()) {
    const upperMs = LATENCY_BOUNDS_MS[index];
    if (upperMs === undefined) break;
    const lowerMs = LATENCY_BOUNDS_MS[index - 1] ?? 0;
    if (countBelow + count >= wantedCount)
      return Math.round((lowerMs + ((upperMs - lowerMs) * (wantedCount - countBelow)) / count) * 100) / 100;
    countBelow += count;
  }
  return LATENCY_BOUNDS_MS[LATENCY_BOUNDS_MS.length - 1] ?? null;
}

function addUp(allShares: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const counts of allShares) {
    for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count;
  }
  return sums;
}
