/**
 * Changes that their actors try until Redis takes them, while it takes none: the real actors, the chat network in
 * memory.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Redis } from 'ioredis';
import { tenantKeys } from '../../actors/tenants/tenant-keys.ts';
import { eventually } from '../testbed/waiting.ts';
import { sharedRealService } from './shared-service.ts';

let redis: Redis;
after(() => redis?.disconnect());
const service = sharedRealService(() => {
  redis = new Redis(service.redisUrl);
});

/** Waits until the service has noticed that there is space again. */
function untilTaken(tenantId: string): Promise<void> {
  const json = { phones: ['+33611111111'] };
  return eventually(
    async () => (await service.operator('POST', `/tenants/${tenantId}/customers`, json)).status !== 503,
  );
}

test('a change that cannot be stored is answered within seconds, and carried out once it can', async () => {
  const { api, operator } = service;
  const tenant = await service.tenant();
  const shopId = await service.shop(tenant);
  const channel = `/shops/${shopId}/channels/msgapp`;
  const call = (method: string, path: string) => api.call(method, path, { key: tenant.key, json: {} });
  const status = async () => (await api.call('GET', channel, { key: tenant.key })).body.data.status;
  await call('POST', `${channel}/connect`);
  await eventually(async () => (await status()) === 'connected');
  const hooks = `/tenants/${tenant.id}/webhooks`;
  const hook = (await operator('POST', hooks, { url: 'http://127.0.0.1:9/' })).body.data.id;

  await redis.config('SET', 'maxmemory', '1');
  const answers = await Promise.all([
    operator('POST', `/actors/${tenant.id}/${shopId}/pause`, {}),
    operator('POST', `/actors/${tenant.id}/${shopId}/resume`, {}),
    operator('POST', `${hooks}/${hook}/replay`, { since: '2020-01-01T00:00:00Z' }),
    call('POST', `${channel}/disconnect`),
  ]);
  for (const { status: code, body, text } of answers)
    assert.deepEqual([code, body?.error?.code], [503, 'SERVICE_UNAVAILABLE'], text);
  assert.equal(await status(), 'connected');

  await redis.config('SET', 'maxmemory', '0');
  await eventually(async () => (await status()) === 'disconnected');
  await untilTaken(tenant.id);
});

test('an erasure whose end cannot be stored is answered within seconds, and ends once it can', async (context) => {
  const tenant = await service.tenant();
  const shopId = await service.shop(tenant);
  const { erasing, streamErasures } = tenantKeys(tenant.id);
  const { store } = service.runtime.node;
  const append = store.append.bind(store);
  // This is the last step before the tenant gets the answer.
  context.mock.method(store, 'append', async (...given: Parameters<typeof append>) => {
    const replies = await append(...given);
    if (given[0][0]?.includes(streamErasures)) await redis.config('SET', 'maxmemory', '1');
    return replies;
  });
  const { status, body } = await service.operator('DELETE', `/tenants/${tenant.id}/shops/${shopId}`);
  assert.deepEqual([status, body.data], [202, { id: shopId, deleted: false, shopsLeft: 1, peopleLeft: 0 }]);
  assert.deepEqual(await redis.smembers(erasing), [shopId], 'whoever has the tenant next goes on');

  context.mock.restoreAll();
  await redis.config('SET', 'maxmemory', '0');
  await eventually(async () => (await redis.exists(erasing)) === 0);
  await untilTaken(tenant.id);
});
