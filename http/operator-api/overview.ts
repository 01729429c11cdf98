import * as v from 'valibot';
import { done } from '../../actors/failure.ts';
import { node } from '../../actors/reply-schemas/operator-schemas.ts';
import { SHOP_CHARTS } from '../../actors/shops/inspection/shop-inspection.ts';
import { cursorPage } from '../contract/list-pages.ts';
import { machine, nodeExample, overview } from './schemas/fleet-resources.ts';
import { operatorEndpoint } from './services.ts';

export const readOverview = operatorEndpoint({
  name: 'readOverview',
  method: 'GET',
  path: '/overview',
  role: 'read',
  tag: 'Fleet',
  summary: 'Shops by state, queues and the last fifteen minutes of all nodes',
  replies: {
    200: {
      description: 'Nodes, shards, counts and a series of five-second points.',
      data: overview,
      example: {
        shops: 1,
        queued: 0,
        scheduled: 0,
        states: { connected: 1 },
        slotMs: 5_000,
        series: [],
        silentNodes: [],
        nodesWithoutWorkers: [],
        suspendedTenants: [],
        mailboxDepth: 0,
        nodes: [nodeExample],
        shards: [{ shard: 0, nodeId: 'node-1', epoch: 3 }],
      },
    },
  },
  async handle({ services }) {
    const [summary, nodes] = await Promise.all([services.overview(), services.ownNode.nodes()]);
    return done({ ...summary, nodes, shards: services.ownNode.shards() });
  },
});

const machines = { items: SHOP_CHARTS };

export const readMachines = operatorEndpoint({
  name: 'readMachines',
  method: 'GET',
  path: '/machines',
  role: 'read',
  tag: 'Actors',
  summary: "A shop's two state machines: states and transitions, read from what runs",
  replies: {
    200: {
      description: 'Both machines.',
      data: v.strictObject({ items: v.array(machine) }),
      example: machines,
    },
  },
  async handle() {
    return done(machines);
  },
});

export const listNodes = operatorEndpoint({
  name: 'listNodes',
  method: 'GET',
  path: '/nodes',
  role: 'read',
  tag: 'Fleet',
  summary: 'The nodes and what they own',
  replies: {
    200: {
      description: 'All nodes.',
      data: cursorPage(node),
      example: { items: [nodeExample], nextCursor: null },
    },
  },
  async handle({ services }) {
    return done({ items: await services.ownNode.nodes(), nextCursor: null });
  },
});
