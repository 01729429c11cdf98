/** A person who answers STOP to the pool's number also opts out of the shops that it wrote for. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Redis } from 'ioredis';
import type { SessionAddress } from '../../../actors/sessions/session-host.ts';
import { shopKeys } from '../../../actors/shops/records/shop-keys.ts';
import { shardOf } from '../../../runtime/address.ts';
import { DAY_MS } from '../../../runtime/durations.ts';
import { until } from '../../testbed/waiting.ts';
import { type MemoryStack, startMemoryStack } from '../stack/memory-stack.ts';
import { sendText, untilStatus } from '../stack/shop-steps.ts';

const CUSTOMER = '+33622220001';
const OTHER = '+33622220002';
const LATER = '+33622220003';
const TWO_DAYS_MS = 2 * DAY_MS;

let stack: MemoryStack;
let pool: SessionAddress;
before(async () => {
  stack = await startMemoryStack({ paired: true, pairedAgoMs: 30 * DAY_MS });
  const { admin, api, tenantId, shopId } = stack;
  await admin.post(`/tenants/${tenantId}/customers`, { phones: [CUSTOMER, OTHER, LATER] });
  await admin.patch(`/tenants/${tenantId}`, { poolFallback: true });
  await api.post(`/shops/${shopId}/channels/msgapp/connect`);
  await untilConnected(tenantId, shopId);
  await api.post(`/shops/${shopId}/channels/msgapp/disconnect`);
  pool = await makePool();
});
after(() => stack.stop());

test('an answer to the pool’s number within two days opts out of the shop that was written for, and of it alone', async () => {
  for (const to of [CUSTOMER, OTHER, LATER]) {
    const acceptedAnswer = await sendText(stack, stack.shopId, { to, text: 'Your bread is ready' });
    assert.equal((await untilStatus(stack, String(acceptedAnswer.data.id), 'sent')).via, 'pool');
  }
  assert.ok(await stack.network.inbound(pool, { from: CUSTOMER, text: 'STOP' }));
  await untilOptedOut(CUSTOMER);
  await age(OTHER, TWO_DAYS_MS + 1_000);
  await age(LATER, TWO_DAYS_MS - 60_000);
  for (const from of [OTHER, LATER]) assert.ok(await stack.network.inbound(pool, { from, text: 'STOP' }));
  await untilOptedOut(LATER);
  const otherAnswer = await sendText(stack, stack.shopId, { to: OTHER, text: 'One more thing' });
  assert.notEqual(otherAnswer.error?.code, 'RECIPIENT_OPTED_OUT', 'the answer came too late');
});

async function untilOptedOut(to: string): Promise<void> {
  const refusedAnswer = await until(`the shop heard of ${to}`, async () => {
    const answer = await sendText(stack, stack.shopId, { to, text: 'One more thing' });
    return answer.status === 422 && answer;
  });
  assert.equal(refusedAnswer.error?.code, 'RECIPIENT_OPTED_OUT');
}

/** Makes the pool's message to a number older. */
async function age(to: string, byMs: number): Promise<void> {
  const redis = new Redis(stack.redis.url);
  try {
    const { carriedFor } = shopKeys(pool.shard, pool.shopId);
    const members = (await redis.zrange(carriedFor, '0', '-1')).filter((member) =>
      member.startsWith(`${to} `),
    );
    assert.equal(members.length, 1);
    for (const member of members) await redis.zincrby(carriedFor, -byMs, member);
  } finally {
    redis.disconnect();
  }
}

async function makePool(): Promise<SessionAddress> {
  const { admin } = stack;
  const tenant = await admin.post('/tenants', { name: 'Platform', plan: 'scale', platform: true });
  const tenantId = String(tenant.data.id);
  const shop = await admin.post(`/tenants/${tenantId}/shops`, { name: 'Pool 1' });
  const shopId = String(shop.data.id);
  await admin.post(`/actors/${tenantId}/${shopId}/connect`);
  await untilConnected(tenantId, shopId);
  return { shard: shardOf(tenantId), tenantId, shopId };
}

async function untilConnected(tenantId: string, shopId: string): Promise<void> {
  await until(`shop ${shopId} is connected`, async () => {
    const { data } = await stack.admin.get(`/actors/${tenantId}/${shopId}`);
    return JSON.stringify(data).includes('"connected"');
  });
}
