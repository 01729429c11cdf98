/** Schemas of the fleet for operators: nodes, shards, the overview, dead letters. */
import * as v from 'valibot';
import { node } from '../../../actors/reply-schemas/operator-schemas.ts';
import { count, instant } from '../../../actors/reply-schemas/reply-fields.ts';

export const shard = v.strictObject({ shard: count, nodeId: v.nullable(v.string()), epoch: count });

/** Five seconds of all nodes. Latencies are null if there was no request. */
export const seriesPoint = v.strictObject({
  at: instant,
  requests: count,
  errors: v.record(v.string(), count),
  messages: v.record(v.string(), count),
  p50Ms: v.nullable(v.number()),
  p99Ms: v.nullable(v.number()),
});

/** The whole service on one page. */
export const overview = v.strictObject({
  shops: count,
  queued: count,
  scheduled: v.pipe(count, v.description('Sends that wait for their time.')),
  mailboxDepth: count,
  states: v.record(v.string(), count),
  slotMs: count,
  series: v.array(seriesPoint),
  silentNodes: v.pipe(
    v.array(v.string()),
    v.description('Nodes that did not answer. Their counts are missing.'),
  ),
  nodesWithoutWorkers: v.pipe(
    v.array(v.string()),
    v.description('Nodes whose sending component accepts no orders.'),
  ),
  suspendedTenants: v.array(v.string()),
  nodes: v.array(node),
  shards: v.array(shard),
});

/** One of a shop's two machines, for a drawing. */
export const machine = v.strictObject({
  id: v.string(),
  initial: v.string(),
  states: v.array(v.string()),
  transitions: v.array(
    v.strictObject({
      from: v.string(),
      to: v.string(),
      event: v.string(),
      guard: v.nullable(v.string()),
    }),
  ),
});

export const nodeExample = {
  nodeId: 'node-1',
  incarnation: 'node-1~1',
  shards: 128,
  self: true,
  leaseMarginMs: 4_200,
};

export const deadLetterExample = {
  id: '66b1f0a2c3d4e5f607182909',
  actor: 'shop/66b1f0a2c3d4e5f607182906.66b1f0a2c3d4e5f607182901',
  command: 'send',
  cause: 'SyntaxError at readLedger (file:///app/actors/shops/state/ledger.js:41:12)',
  at: '2027-01-31T12:00:00.000Z',
};
