/**
 * Large fleets in virtual time: how soon every shard has an owner again, and how many commands Redis gets. The gate has
 * 30 nodes. `npm run fleets` has 100 nodes with 4,096 shards, and restarts them all.
 */

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { parseArgs } from 'node:util';
import { Awakening } from '../../runtime/actor/awakening.ts';
import { UNCLAIMED_RECORD } from '../../runtime/engine.ts';
import { DEFAULT_LIMITS } from '../../runtime/limits.ts';
import { OwnedShard } from '../../runtime/ownership/owned-shard.ts';
import { FakeClock } from '../testbed/fake-clock.ts';
import { FleetSimulation } from './fleet-simulation.ts';

const { values } = parseArgs({
  strict: false,
  options: {
    nodes: { type: 'string', default: '30' },
    shards: { type: 'string', default: '1024' },
    restarts: { type: 'string', default: '3' },
  },
});
const [nodes, shards, restarts] = [values.nodes, values.shards, values.restarts].map(Number) as [
  number,
  number,
  number,
];
const SHOPS = 10_000 * nodes;
const SEED = 1;

const nodeIds = Array.from({ length: nodes }, (_, index) => `node-${index}`);
const third = nodeIds.slice(0, Math.floor(nodes / 3));
const fleet = new FleetSimulation({ shards, seed: SEED });
after(() => fleet.end());

test(`${nodes} nodes that start within a second own all ${shards} shards evenly a second later`, async (context) => {
  const phase = await fleet.start(nodeIds, 1_000);
  context.diagnostic(JSON.stringify(phase));
  assert.ok(phase.evenMs <= 2_000);
  // Each move is a claim and a release. The checks of the nodes do not come all at once.
  assert.ok(phase.mostCommands <= 3 * phase.moves + 10_000);
});

test('a fleet at rest asks Redis for seven commands a node and second', async (context) => {
  const commands = await fleet.restingCommands(10);
  context.diagnostic(`${commands} a second`);
  assert.ok(commands <= 7 * nodes);
});

test('the shards of a third of the nodes, which are killed at once, are owned again within their lease and two checks', async (context) => {
  const phase = await fleet.kill(third);
  context.diagnostic(JSON.stringify(phase));
  assert.ok(phase.evenMs <= DEFAULT_LIMITS.leaseMs + 2 * DEFAULT_LIMITS.claimEveryMs);
  assert.ok(phase.moves <= 1.1 * Math.ceil(shards / 3));
  assert.ok(phase.mostCommands <= 6_000 + 2 * phase.moves);
});

test('a rolling restart moves two shares a node, with few calls to Redis', async (context) => {
  const replaced = nodeIds.slice(-restarts);
  const phase = await fleet.roll(replaced);
  context.diagnostic(JSON.stringify({ restarts: replaced.length, ...phase }));
  const share = Math.ceil(shards / (nodes - third.length));
  // A move is a release and a claim. A node that joins gets its share, and a node that leaves gives its share away.
  assert.ok(phase.moves <= 6 * share * replaced.length);
  assert.ok(phase.mostCommands <= 6_000);
  assert.ok(phase.evenMs <= 6_000 * replaced.length);
});

/** How long a node takes to bring back shops, in virtual milliseconds. */
async function msUntilBack(shops: number): Promise<number> {
  const clock = new FakeClock();
  let back = 0;
  const awakening = new Awakening(clock, DEFAULT_LIMITS, () => {
    back += 1;
  });
  const awake = new Set(Array.from({ length: shops }, (_, index) => `shop/${index}`));
  awakening.add(new OwnedShard(0, UNCLAIMED_RECORD, { awake, suspended: new Set() }));
  const startMs = clock.monotonicMs();
  await clock.until(() => back === shops);
  return clock.monotonicMs() - startMs;
}

test('10,000 shops on each node are back 25 seconds after a start, a third of them 13 after their node died', async () => {
  assert.equal(SHOPS / nodes, 10_000);
  assert.ok((await msUntilBack(SHOPS / nodes)) <= 25_100);
  assert.ok((await msUntilBack(Math.ceil(SHOPS / 3 / (nodes - third.length)))) <= 13_000);
});
