/** Calls that wait for a tenant's events on a node that loses the tenant without a hand-over. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { shardKey, shardOf } from '../../runtime/address.ts';
import { eventually } from '../runtime/redis-node.ts';
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
  const waiting = actors.events.list(tenant.id, asked);
  await eventually(() => actors.eventWaits() === 1);
  // Another node took the shard: the next commit is refused by the fence.
  await runtime.node.store.append([['SET', shardKey(shardOf(tenant.id), 'owner'), 'another 1']]);
  await service.operator('PATCH', `/tenants/${tenant.id}`, { name: 'Renamed' });
  await eventually(() => actors.eventWaits() === 0, 10_000);
  assert.equal((await waiting).ok, true);
});
