import * as v from 'valibot';
import type { DeadLetterView, FleetNode } from '../../actors/operators/operator-operations.ts';
import { count, instant } from '../contract/resources.ts';
import type { SchemasOf } from './schemas-of.ts';

/** Schemas of the fleet for operators: nodes, shards, the overview, dead letters. */

/** A node as the one that is asked knows it. */
export const node = v.strictObject({
  nodeId: v.string(),
  incarnation: v.string(),
  shards: count,
  self: v.boolean(),
  leaseMarginMs: v.exactOptional(v.pipe(v.number(), v.description('Only of the node that answers.'))),
} satisfies SchemasOf<FleetNode>);

/** A shard and the node that owns it. */
export const shard = v.strictObject({ shard: count, nodeId: v.nullable(v.string()), epoch: count });

/** Five seconds of all nodes. */
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
  silentNodes: v.array(v.string()),
  nodesWithoutWorkers: v.array(v.string()),
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

/** A command that made an actor throw. */
export const deadLetter = v.strictObject({
  id: v.string(),
  actor: v.pipe(v.string(), v.description('`kind/id`.')),
  command: v.nullable(v.string()),
  cause: v.string(),
  at: instant,
} satisfies SchemasOf<DeadLetterView>);

/** An example of a node, for the document. */
export const nodeExample = {
  nodeId: 'node-1',
  incarnation: 'node-1~1',
  shards: 128,
  self: true,
  leaseMarginMs: 4200,
};

/** An example of a dead letter, for the document. */
export const deadLetterExample = {
  id: '66b1f0a2c3d4e5f607182909',
  actor: 'shop/66b1f0a2c3d4e5f607182906.66b1f0a2c3d4e5f607182901',
  command: 'send',
  cause: 'the ledger cannot be read',
  at: '2027-01-31T12:00:00.000Z',
};
