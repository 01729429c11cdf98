/**
 * Three nodes on a Redis Cluster of three masters: the main job through every node, a take-over after SIGKILL, and
 * a master that is killed and comes back, with nothing lost and nothing doubled.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { testEnvironment } from '../../bin/environment.ts';
import { seededRandom } from '../../runtime/random.ts';
import { type Fleet, startFleet } from '../e2e/fleet.ts';
import { type ChaosShop, openShops } from './chaos-shops.ts';
import { handOver, takeOver } from './node-faults.ts';
import { runFault } from './scenario.ts';
import { storeDown } from './store-faults.ts';

const { seed = Date.now() % 2 ** 31 } = testEnvironment();
const random = seededRandom(seed);

let fleet: Fleet;
let shops: readonly ChaosShop[];
before(async () => {
  fleet = await startFleet({ nodes: 3, redis: 'cluster' });
  shops = await openShops(fleet, 5);
});
after(() => fleet.stop());

test('any node answers any request, and a revoked key opens nothing on any of them', async () => {
  const shop = shops[0];
  assert.ok(shop);
  for (const node of fleet.nodes) {
    const { data } = await node.api(shop.apiKey).get(`/shops/${shop.id}/channels/msgapp`);
    assert.deepEqual([data.status, data.phone], ['connected', shop.phone.slice(1)]);
  }
  const made = await fleet.admin.post(`/tenants/${shop.tenantId}/keys`, { name: 'k', permissions: [] });
  await fleet.admin.delete(`/tenants/${shop.tenantId}/keys/${made.data.id}`);
  for (const node of fleet.nodes) {
    const { error } = await node.api(String(made.data.key)).get('/me');
    assert.equal(error?.code, 'API_KEY_REVOKED');
  }
});

for (const fault of [handOver, takeOver, storeDown(2_000)]) {
  test(`${fault.name}: nothing lost, nothing doubled, nobody unanswered (seed ${seed})`, async (context) => {
    const figures = await runFault(
      { fleet, random, shops, messagesPerShop: 2, trafficMs: 2_000, patience: 5 },
      fault,
    );
    context.diagnostic(JSON.stringify(figures));
    assert.ok(figures.accepted > 0);
  });
}
