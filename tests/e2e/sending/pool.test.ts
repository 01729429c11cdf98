/**
 * The platform's pool. A shop whose own session is away has a message sent by a shop of the platform, with a line that
 * names this. It never writes to strangers, never for a tenant that did not ask for it, and once, also when the service
 * is killed.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Redis } from 'ioredis';
import { customer } from '../../testbed/customer.ts';
import { pause, until } from '../../testbed/waiting.ts';
import { erase } from '../stack/erase.ts';
import { makePlatform } from '../stack/platform.ts';
import type { ServiceStack } from '../stack/service-stack.ts';
import { sharedStack } from '../stack/shared-stack.ts';
import { connectShop, sendText, untilConnected, untilEnded, untilStatus } from '../stack/shop-steps.ts';

const SHOP_PHONE = '+33611110001';
const POOL_PHONE = '+33611119999';
const POOL_LINE = '\n\nSent for Corner bakery via Tenant Messaging';

/** The stack as the platform's own tenant sees it. */
let platform: ServiceStack;
let redis: Redis;
after(() => redis.disconnect());
const stack = sharedStack({ gapMs: '20-60' }, async () => {
  redis = new Redis(stack.redis.url);
  const phones = Array.from({ length: 40 }, (_, index) => customer(index));
  await stack.admin.post(`/tenants/${stack.tenantId}/customers`, { phones });
  platform = await makePlatform(stack);
  await connectShop(stack, stack.shopId, SHOP_PHONE);
  await stack.api.post(`/shops/${stack.shopId}/channels/msgapp/disconnect`);
  await connectShop(platform, platform.shopId, POOL_PHONE);
  await setFallback(true);
});

const setFallback = (poolFallback: boolean) =>
  stack.admin.patch(`/tenants/${stack.tenantId}`, { poolFallback });

test('a tenant without the fallback gets 503 while its session is away, pool or not', async (context) => {
  await setFallback(false);
  context.after(() => setFallback(true));
  const refused = await sendText(stack, stack.shopId, { to: customer(0), text: 'No fallback' });
  assert.deepEqual([refused.status, refused.error?.code], [503, 'MSGAPP_NOT_CONNECTED']);
});

test('with the fallback a known recipient gets it from the platform’s number, with the line; the record shows the pool', async () => {
  const body = { to: customer(1), text: 'Your bread is ready', idempotencyKey: 'pool-1' };
  const accepted = await sendText(stack, stack.shopId, body);
  assert.equal(accepted.status, 202, JSON.stringify(accepted.error));
  const record = await untilStatus(stack, String(accepted.data.id), 'sent');
  assert.deepEqual([record.via, record.text], ['pool', body.text]);
  const inbox = await stack.network.inbox(customer(1));
  assert.deepEqual(
    inbox.items.map(({ from, text, composingSeen }) => ({ from, text, composingSeen })),
    [{ from: POOL_PHONE, text: `${body.text}${POOL_LINE}`, composingSeen: true }],
  );
  const replay = await sendText(stack, stack.shopId, body);
  assert.deepEqual([replay.status, replay.data.id, replay.data.status], [200, accepted.data.id, 'sent']);
  assert.equal((await platform.api.get(`/messages/${accepted.data.id}`)).status, 404);
});

test('strangers and groups get 503, and a text too long for the line is 422', async () => {
  const cold = await sendText(stack, stack.shopId, { to: '+33699990001', text: 'Hello stranger' });
  assert.deepEqual([cold.status, cold.error?.code], [503, 'MSGAPP_NOT_CONNECTED']);
  const long = await sendText(stack, stack.shopId, { to: customer(2), text: 'x'.repeat(4_090) });
  assert.deepEqual([long.status, long.error?.code], [422, 'MESSAGE_TOO_LONG']);
  const status = await stack.api.post(`/shops/${stack.shopId}/statuses`, { caption: 'Open' });
  assert.deepEqual([status.status, status.error?.code], [503, 'MSGAPP_NOT_CONNECTED']);
});

test('a declared recipient goes through the pool too', async (context) => {
  const phone = '+33644440001';
  await stack.api.post(`/shops/${stack.shopId}/contacts/consented`, { contacts: [{ phone }] });
  const accepted = await sendText(stack, stack.shopId, { to: phone, text: 'As agreed' });
  assert.equal(accepted.status, 202, JSON.stringify(accepted.error));
  assert.equal((await untilStatus(stack, String(accepted.data.id), 'sent')).via, 'pool');
  await context.test('the platform’s shard keeps only the fact that a message was sent', async () => {
    const left = await carriedRecords();
    assert.ok(left.length >= 1);
    for (const fields of left) assert.deepEqual(Object.keys(fields), ['state']);
  });
});

test('kills of the service lose nothing and send nothing twice', async (context) => {
  const sends = Array.from({ length: 6 }, (_, index) => ({
    to: customer(10 + index),
    text: `killed ${index}`,
    idempotencyKey: `killed-${index}`,
  }));
  const ids = new Map<string, string>();
  for (const pauseMs of [0, 350, 1_200]) {
    const sending = sends.map((send) => sendText(stack, stack.shopId, send).catch(() => undefined));
    await Promise.race(sending);
    await pause(pauseMs);
    await stack.end('SIGKILL');
    await Promise.all(sending);
    await stack.start();
    await untilConnected(platform, platform.shopId);
  }
  for (const send of sends) {
    const answer = await until(`${send.text} is accepted`, async () => {
      const asked = await sendText(stack, stack.shopId, send);
      return (asked.status === 202 || asked.status === 200) && asked;
    });
    ids.set(send.text, String(answer.data.id));
  }
  const outcomes: string[] = [];
  for (const send of sends) {
    const record = await untilEnded(stack, ids.get(send.text) ?? '');
    const inbox = (await stack.network.inbox(send.to)).items;
    const outcome = `${send.text}: ${record.status} ${record.reason}`;
    outcomes.push(outcome);
    if (record.status === 'sent') {
      assert.equal(inbox.length, 1, outcome);
    } else {
      assert.equal(record.reason, 'BOT_RESTARTED', outcome);
      assert.ok(inbox.length <= 1, `${outcome} was delivered ${inbox.length} times`);
    }
  }
  context.diagnostic(outcomes.join('; '));
});

test('an erased shop leaves nothing of its messages with the pool', async () => {
  const made = await stack.api.post('/shops', { name: 'Second bakery' });
  const shopId = String(made.data.id);
  await connectShop(stack, shopId, '+33611110002');
  await stack.api.post(`/shops/${shopId}/channels/msgapp/disconnect`);
  const before = (await carriedRecords()).length;
  const accepted = await sendText(stack, shopId, { to: customer(30), text: 'Soon forgotten' });
  assert.equal(accepted.status, 202, JSON.stringify(accepted.error));
  await until('the pool has it', async () => (await carriedRecords()).length > before);
  await erase(stack.admin, `/tenants/${stack.tenantId}/shops/${shopId}`);
  for (const fields of await carriedRecords()) {
    assert.deepEqual(Object.keys(fields), ['state']);
    assert.ok(!JSON.stringify(fields).includes(shopId));
  }
});

// This is the last test, because there is no pool after it.
test('an erased pool shop fails what it had, and after that there is no pool', async () => {
  const before = (await carriedRecords()).length;
  const accepted = await sendText(stack, stack.shopId, { to: customer(31), text: 'Too late' });
  assert.equal(accepted.status, 202, JSON.stringify(accepted.error));
  await until('the pool has it', async () => (await carriedRecords()).length > before);
  await erase(stack.admin, `/tenants/${platform.tenantId}/shops/${platform.shopId}`);
  const { reason } = await untilEnded(stack, String(accepted.data.id));
  assert.ok([null, 'MSGAPP_SESSION_LOST', 'DELIVERY_UNKNOWN'].includes(reason as string | null), `${reason}`);
  for (const fields of await carriedRecords()) assert.ok(!('body' in fields));
  assert.deepEqual(await redis.smembers('pool-sessions'), []);
});

/** Returns the stored records of messages that went through the pool. */
async function carriedRecords(): Promise<Record<string, string>[]> {
  const keys = await redis.keys('{s*}:carried:*');
  return await Promise.all(keys.map((key) => redis.hgetall(key)));
}
