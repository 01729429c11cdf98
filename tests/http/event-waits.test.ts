/** Calls that wait for a tenant's events on a node that loses the tenant without a hand-over. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { shardKey, shardOf } from '../../runtime/address.ts';
import { type RealService, startRealService } from './real-service.ts';

let service: RealService;
before(async () => {
  service = await startRealService();
});
after(() => service?.stop());

test('a wait ends as soon as another node has the tenant, which tells its own waits alone', async () => {
  const tenant = await service.tenant();
  const { actors, runtime } = service;
  const asked = { cursor: undefined, limit: 1, types: undefined, shopId: undefined, waitMs: 30_000 };
  const listed = await actors.events.list(tenant.id, asked);
  const wait = listed.ok ? listed.value.wait : undefined;
  assert.ok(wait);
  assert.equal(actors.eventWaits(), 1);
  const woken = new Promise<void>((resolve) => wait.whenWoken(resolve, undefined));
  // Another node took the shard: the next commit is refused by the fence.
  await runtime.node.store.append([['SET', shardKey(shardOf(tenant.id), 'owner'), 'another 1']]);
  await service.operator('PATCH', `/tenants/${tenant.id}`, { name: 'Renamed' });
  await woken;
  const answer = await actors.events.list(tenant.id, { ...asked, wait });
  assert.deepEqual([answer.ok && answer.value.wait, actors.eventWaits()], [undefined, 0]);
});
