/**
 * Calls that wait for a tenant's events on a node that loses the tenant without a hand-over, and whose key is changed.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shardKey, shardOf } from '../../../runtime/address.ts';
import { eventually } from '../../testbed/waiting.ts';
import { sharedRealService } from '../shared-service.ts';

const service = sharedRealService();

for (const [change, method, path] of [
  ['revoked', 'DELETE', ''],
  ['rotated', 'POST', '/rotate'],
] as const) {
  test(`a key that is ${change} ends the calls that wait with it, and no others of its tenant`, async () => {
    const { actors, api, operator } = service;
    const tenant = await service.tenant();
    const shopId = await service.shop(tenant);
    const other = await service.key(tenant.id);
    const waits = (key: string) => api.call('GET', '/events?waitMs=30000', { key });
    const [ownPromise, otherPromise] = [waits(other.key), waits(tenant.key)];
    await eventually(() => actors.eventWaiters.count === 2);
    assert.ok((await operator(method, `/tenants/${tenant.id}/keys/${other.id}${path}`, {})).status < 300);
    assert.equal((await ownPromise).body.error.code, 'API_KEY_REVOKED');
    assert.equal(actors.eventWaiters.count, 1);
    await operator('POST', `/actors/${tenant.id}/${shopId}/pause`, {});
    const { items } = (await otherPromise).body.data;
    assert.deepEqual(
      items.map(({ type }: { type: string }) => type),
      ['queue.paused'],
    );
  });
}

test('a wait ends as soon as another node has the tenant, which notifies only its own waits', async () => {
  const tenant = await service.tenant();
  const { actors, runtime } = service;
  const asked = { cursor: undefined, limit: 1, types: undefined, shopId: undefined, waitMs: 30_000 };
  const listedOutcome = await actors.events.list(tenant.id, asked);
  const wait = listedOutcome.ok ? listedOutcome.value.wait : undefined;
  assert.ok(wait);
  assert.equal(actors.eventWaiters.count, 1);
  const woken = new Promise<void>((resolve) => wait.whenWoken(resolve, undefined));
  // Another node took the shard: the next commit is refused by the fence.
  await runtime.node.store.append([['SET', shardKey(shardOf(tenant.id), 'owner'), 'another 1']]);
  await service.operator('PATCH', `/tenants/${tenant.id}`, { name: 'Renamed' });
  await woken;
  const answer = await actors.events.list(tenant.id, { ...asked, wait });
  assert.deepEqual([answer.ok && answer.value.wait, actors.eventWaiters.count], [undefined, 0]);
});
