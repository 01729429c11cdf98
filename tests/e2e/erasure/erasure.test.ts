/** Erasure: deleting a shop or a tenant ends its sessions and leaves nothing of it in Redis. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Redis } from 'ioredis';
import { shopAddress } from '../../../actors/shops/records/shop-keys.ts';
import { tenantAddress } from '../../../actors/tenants/tenant-keys.ts';
import type { Address } from '../../../runtime/address.ts';
import { until } from '../../testbed/waiting.ts';
import { erase } from '../stack/erase.ts';
import { sharedStack } from '../stack/shared-stack.ts';
import { connectShop, sendText, sentText } from '../stack/shop-steps.ts';
import { tracesIn } from '../stack/traces.ts';

const FIRST_PHONE = '+33611110003';
const SECOND_PHONE = '+33611110004';
const THIRD_PHONE = '+33611110010';
const CUSTOMER = '+33622220003';

let redis: Redis;
after(() => redis.disconnect());
const stack = sharedStack({}, () => {
  redis = new Redis(stack.redis.url);
});

/** A command that made an actor throw some day, as the runtime keeps it. */
async function deadLetter(address: Address): Promise<void> {
  const { kind, id } = address;
  const letter = JSON.stringify({ kind, id, command: { text: 'Hello' }, cause: 'a defect', atMs: 0 });
  await redis.zadd(`{s${address.shard}}:dead-letters`, 0, `66b1f0a2c3d4e5f607182901 ${letter}`);
}

async function liveShop(name: string, phone: string): Promise<string> {
  const made = await stack.api.post('/shops', { name });
  const shopId = String(made.data.id);
  await connectShop(stack, shopId, phone);
  await sentText(stack, shopId, { to: CUSTOMER, text: 'Hello', idempotencyKey: 'once' });
  const key = { 'idempotency-key': 'once' };
  const posted = await stack.api.post(`/shops/${shopId}/statuses`, { caption: 'Hello' }, key);
  assert.equal(posted.status, 202);
  await stack.network.write(CUSTOMER, { to: phone, text: 'Hello back' });
  return shopId;
}

async function liveShopOf(phone: string, name: string): Promise<string> {
  const shopId = String((await stack.api.post('/shops', { name })).data.id);
  await connectShop(stack, shopId, phone);
  return shopId;
}

function untilUnlinked(phone: string): Promise<unknown> {
  return until(`${phone} has no live session`, async () => {
    const { items } = await stack.network.sessions();
    return !items.some((session) => session.phone === phone && session.connected);
  });
}

test('a deleted shop is gone from the API, the network and the store; its sibling stays', async () => {
  const shopId = await liveShop('First', FIRST_PHONE);
  await deadLetter(shopAddress({ tenantId: stack.tenantId, shopId }));
  assert.ok((await tracesIn(redis, [shopId])).length > 5);
  await erase(stack.admin, `/tenants/${stack.tenantId}/shops/${shopId}`);
  assert.equal((await stack.api.get(`/shops/${shopId}`)).error?.code, 'SHOP_NOT_FOUND');
  await untilUnlinked(FIRST_PHONE);
  assert.deepEqual(await tracesIn(redis, [shopId]), []);
  assert.equal((await stack.api.get(`/shops/${stack.shopId}`)).status, 200);
});

test('the number of a deleted shop brings its counts and opt-outs to the next, and is one shop’s at a time', async () => {
  const former = await liveShop('Former', THIRD_PHONE);
  await erase(stack.admin, `/tenants/${stack.tenantId}/shops/${former}`);
  await untilUnlinked(THIRD_PHONE);
  const next = await liveShopOf(THIRD_PHONE, 'Next');
  const { data } = await stack.api.get(`/shops/${next}/policy`);
  assert.equal((data.usage as { today: number }).today, 1, 'the deleted shop had sent one');
  await stack.network.write(CUSTOMER, { to: THIRD_PHONE, text: 'STOP' });
  await erase(stack.admin, `/tenants/${stack.tenantId}/shops/${next}`);
  await untilUnlinked(THIRD_PHONE);
  const last = await liveShopOf(THIRD_PHONE, 'Last');
  const refused = await sendText(stack, last, { to: CUSTOMER, text: 'Are you there?' });
  assert.equal(refused.error?.code, 'RECIPIENT_OPTED_OUT');
  // The service is killed: what came with the number is stored.
  await stack.end('SIGKILL');
  await stack.start();
  const again = await sendText(stack, last, { to: CUSTOMER, text: 'Are you there?' });
  assert.equal(again.error?.code, 'RECIPIENT_OPTED_OUT');
  const kept = await stack.api.get(`/shops/${last}/policy`);
  assert.equal((kept.data.usage as { today: number }).today, 1);

  const twin = String((await stack.api.post('/shops', { name: 'Twin' })).data.id);
  const path = `/shops/${twin}/channels/msgapp/connect`;
  await stack.api.post(path);
  const qr = await until(
    'a QR code is shown',
    async () => (await stack.api.get(path)).data.qr as string | undefined,
  );
  const linked = async (): Promise<string[]> => (await stack.network.sessions()).items.map(({ id }) => id);
  const before = await linked();
  await stack.network.scan(qr, THIRD_PHONE);
  const channel = await until('the scan is refused', async () => {
    const poll = await stack.api.get(path);
    return poll.data.status === 'disconnected' && poll.data;
  });
  assert.equal(channel.reason, 'NUMBER_IN_USE');
  await until('the device that was scanned is unlinked', async () => {
    return (await linked()).every((id) => before.includes(id));
  });
  await erase(stack.admin, `/tenants/${stack.tenantId}/shops/${last}`);
  await erase(stack.admin, `/tenants/${stack.tenantId}/shops/${twin}`);
});

test('a deleted tenant takes its keys, shops, sessions, contacts and request log along', async () => {
  const shopId = await liveShop('Second', SECOND_PHONE);
  await stack.api.post(`/shops/${shopId}/contacts/consented`, { contacts: [{ phone: CUSTOMER }] });
  await stack.admin.post(`/tenants/${stack.tenantId}/customers`, { phones: [CUSTOMER] });
  await deadLetter(tenantAddress(stack.tenantId));
  await erase(stack.admin, `/tenants/${stack.tenantId}`);
  assert.equal((await stack.api.get('/me')).error?.code, 'API_KEY_INVALID');
  assert.equal((await stack.admin.get(`/tenants/${stack.tenantId}`)).status, 404);
  await untilUnlinked(SECOND_PHONE);
  const left = await until('nothing of the tenant is left', async () => {
    const keys = await tracesIn(redis, [stack.tenantId, shopId]);
    return keys.length === 0 && keys;
  }).catch(async () => tracesIn(redis, [stack.tenantId, shopId]));
  assert.deepEqual(left, []);
});
