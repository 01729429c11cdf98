/**
 * The pool accepts no more than its number can send. The shop's own number sends what the pool has not taken, once its
 * session is back.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Redis } from 'ioredis';
import { carriedKey } from '../../../actors/shops/records/carried-message.ts';
import { shopAddress, shopKeys } from '../../../actors/shops/records/shop-keys.ts';
import { customer } from '../../testbed/customer.ts';
import { until } from '../../testbed/waiting.ts';
import { makePlatform } from '../stack/platform.ts';
import type { ServiceStack } from '../stack/service-stack.ts';
import { sharedStack } from '../stack/shared-stack.ts';
import { acceptedText, connectShop, sendText, untilConnected, untilStatus } from '../stack/shop-steps.ts';

const PHONES = ['+33611110001', '+33611110002'] as const;
/** The messages of an hour of the platform's number, which is new. */
const POOL_ROOM = 10;

let platform: ServiceStack;
let redis: Redis;
after(() => redis.disconnect());
/** Two shops of one tenant, whose sessions are away, and a shop of the platform. */
const shopIds: string[] = [];
const stack = sharedStack({ gapMs: '20-60' }, async () => {
  redis = new Redis(stack.redis.url);
  const phones = Array.from({ length: 40 }, (_, index) => customer(index));
  await stack.admin.post(`/tenants/${stack.tenantId}/customers`, { phones });
  await stack.admin.patch(`/tenants/${stack.tenantId}`, { poolFallback: true });
  const secondAnswer = await stack.api.post('/shops', { name: 'Second bakery' });
  shopIds.push(stack.shopId, String(secondAnswer.data.id));
  for (const [index, shopId] of shopIds.entries()) {
    await connectShop(stack, shopId, PHONES[index] ?? '');
    await stack.api.post(`/shops/${shopId}/channels/msgapp/disconnect`);
  }
  platform = await makePlatform(stack);
  await connectShop(platform, platform.shopId, '+33611119999');
});

test('a message that the pool refused is sent by the own number once its session is open', async () => {
  const [shopId = ''] = shopIds;
  // A long text is composed for seconds, so the pool shop has the message and has not sent it.
  const text = 'Your bread is ready. '.repeat(20).trim();
  const id = await acceptedText(stack, shopId, { to: customer(30), text });
  const carriedId = carriedKey(shopAddress(platform).shard, id);
  await until('the pool has it', async () => (await redis.exists(carriedId)) === 1);
  await stack.end('SIGKILL');
  await refuseAtPool(id, shopId);
  await stack.start();
  await untilConnected(platform, platform.shopId);
  await until('no pool shop has it', async () => (await pooledRecord(id, shopId)).pool === null);
  await stack.api.post(`/shops/${shopId}/channels/msgapp/connect`);
  const record = await untilStatus(stack, id, 'sent');
  assert.deepEqual([record.via, record.text], ['shop', text]);
  const inbox = (await stack.network.inbox(customer(30))).items;
  assert.deepEqual(
    inbox.map((entry) => [entry.from, entry.text]),
    [[PHONES[0], text]],
  );
  await stack.api.post(`/shops/${shopId}/channels/msgapp/disconnect`);
});

test('of sends at the same moment, the pool accepts as many as its number may send, and sends them all', async () => {
  const { data } = await platform.api.get(`/shops/${platform.shopId}/policy`);
  const { lastHour } = data.usage as { readonly lastHour: number };
  const answers = await Promise.all(
    shopIds.flatMap((shopId, shop) =>
      Array.from({ length: 7 }, (_, index) =>
        sendText(stack, shopId, { to: customer(10 * shop + index), text: `Bread ${shop} ${index}` }),
      ),
    ),
  );
  const acceptedAnswers = answers.filter(({ status }) => status === 202);
  const refusedAnswers = answers.filter(({ status }) => status !== 202);
  assert.equal(acceptedAnswers.length, POOL_ROOM - lastHour);
  for (const { status, error } of refusedAnswers)
    assert.deepEqual([status, error?.code], [503, 'MSGAPP_NOT_CONNECTED']);
  for (const { data } of acceptedAnswers)
    assert.equal((await untilStatus(stack, String(data.id), 'sent')).via, 'pool');
});

/** Changes the stored data as if the pool shop had refused the message, and its answer had been lost. */
async function refuseAtPool(id: string, shopId: string): Promise<void> {
  const pool = shopAddress(platform).shard;
  const carriedId = carriedKey(pool, id);
  await redis.del(carriedId);
  await redis.hset(carriedId, 'refused', '1');
  await redis.zrem(shopKeys(pool, platform.shopId).carried, id);
  const stored = await pooledRecord(id, shopId);
  await redis.hset(pooledKey(shopId), id, JSON.stringify({ ...stored, taken: false }));
}

/** Reads what a shop stores about its message at the pool. */
async function pooledRecord(id: string, shopId: string): Promise<{ readonly pool: unknown }> {
  return JSON.parse(String(await redis.hget(pooledKey(shopId), id))) as { readonly pool: unknown };
}

function pooledKey(shopId: string): string {
  return shopKeys(shopAddress({ tenantId: stack.tenantId, shopId }).shard, shopId).pooled;
}
