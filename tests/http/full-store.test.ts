/** Changes that their actors try until Redis takes them, while it takes none: the real actors, the chat network in memory. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Redis } from 'ioredis';
import { eventually } from '../runtime/redis-node.ts';
import { type RealService, startRealService } from './real-service.ts';

let service: RealService;
let redis: Redis;

before(async () => {
  service = await startRealService();
  redis = new Redis(service.redisUrl);
});
after(async () => {
  redis?.disconnect();
  await service?.stop();
});

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
});
