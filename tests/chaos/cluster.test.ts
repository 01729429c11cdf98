/**
 * Three nodes on a Redis Cluster of three masters: the main job through every node, a hand-over, a take-over after
 * SIGKILL, and masters that are killed and come back, with nothing lost and nothing doubled.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testFaults } from './fault-tests.ts';
import { handOver, takeOver } from './node-faults.ts';
import { storeDown } from './store-faults.ts';

const world = testFaults([handOver, takeOver, storeDown(2_000)], { redis: 'cluster', messagesPerShop: 2 });

test('any node answers any request, and a revoked key opens nothing on any of them', async () => {
  const fleet = world.fleet();
  const [shop] = world.shops();
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
