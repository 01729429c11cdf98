/**
 * Messages that were stored while messages were kept for longer, and that no list of their shop names any more. Actors
 * and Redis are real.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Redis } from 'ioredis';
import { NO_CONTENT } from '../../../actors/shops/message-content.ts';
import { bodyWrite, dayOfMessage } from '../../../actors/shops/records/message-days.ts';
import { idempotencyRedisKey } from '../../../actors/shops/records/shop-keys.ts';
import { shardOf } from '../../../runtime/address.ts';
import { DAY_MS } from '../../../runtime/durations.ts';
import { objectIdGenerator } from '../../../runtime/object-id.ts';
import { systemRandom } from '../../../runtime/random.ts';
import { tracesIn } from '../../e2e/stack/traces.ts';
import { eventually } from '../../testbed/waiting.ts';
import { sharedRealService } from '../shared-service.ts';

const newId = objectIdGenerator(systemRandom);

let redis: Redis;
after(() => redis?.disconnect());
const service = sharedRealService(() => {
  redis = new Redis(service.redisUrl);
});

/** A message of the shop that is ten days older than messages are kept now, with its idempotency key. */
async function strayMessage(tenantId: string, shopId: string): Promise<string> {
  const createdAtMs = Date.now() - 41 * DAY_MS;
  const id = newId(createdAtMs);
  const shard = shardOf(tenantId);
  const [command, ...args] = bodyWrite(shard, dayOfMessage(id), {
    id,
    tenantId,
    shopId,
    kind: 'message',
    to: '+33622220001',
    ...NO_CONTENT,
    text: 'Kept for long',
    via: 'shop',
    policy: null,
    createdAtMs,
    wireId: '3EB0',
    requestId: null,
    idempotencyKey: `once ${shopId}`,
    traceparent: null,
    reply: undefined,
    batchId: undefined,
  });
  await redis.call(command, ...args.map(String));
  await redis.set(idempotencyRedisKey(shard, { shopId, kind: 'message' }, `once ${shopId}`), id);
  return id;
}

/** Erases a tenant or a shop, and waits for the end. */
async function eraseAll(path: string): Promise<void> {
  const { status } = await service.operator('DELETE', path);
  assert.ok([200, 202].includes(status), String(status));
  const [tenant] = path.split('/shops/');
  await eventually(async () => (await service.operator('GET', `${tenant}/erasure`)).status === 404);
}

test('stray messages go with their shop, and those of other shops stay', async () => {
  const tenant = await service.tenant();
  const [erased, kept] = [await service.shop(tenant), await service.shop(tenant)];
  const [stray, otherId] = [await strayMessage(tenant.id, erased), await strayMessage(tenant.id, kept)];
  const read = async (id: string) =>
    (await service.api.call('GET', `/messages/${id}`, { key: tenant.key })).status;
  assert.deepEqual([await read(stray), await read(otherId)], [200, 200]);
  await eraseAll(`/tenants/${tenant.id}/shops/${erased}`);
  assert.deepEqual([await read(stray), await read(otherId)], [404, 200]);
  assert.deepEqual(await tracesIn(redis, [erased, stray]), []);
});

test('stray messages go with their tenant', async () => {
  const tenant = await service.tenant();
  const shopId = await service.shop(tenant);
  const stray = await strayMessage(tenant.id, shopId);
  await eraseAll(`/tenants/${tenant.id}`);
  assert.deepEqual(await tracesIn(redis, [tenant.id, stray]), []);
});

test('a message that is still stored is not shown once its shop is gone', async () => {
  const tenant = await service.tenant();
  const shopId = await service.shop(tenant);
  await eraseAll(`/tenants/${tenant.id}/shops/${shopId}`);
  const stray = await strayMessage(tenant.id, shopId);
  const { status, body } = await service.api.call('GET', `/messages/${stray}`, { key: tenant.key });
  assert.deepEqual([status, body.error.code], [404, 'MESSAGE_NOT_FOUND']);
});
