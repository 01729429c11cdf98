/**
 * Delivered and read over the wire protocol: people and groups, handsets that were off, restarts, and forged receipts.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Redis } from 'ioredis';
import { shopKeys } from '../../../actors/shops/records/shop-keys.ts';
import { shardOf } from '../../../runtime/address.ts';
import { DAY_MS } from '../../../runtime/durations.ts';
import { until } from '../../testbed/waiting.ts';
import { sharedStack } from '../stack/shared-stack.ts';
import { connectShop, sendText, untilStatus } from '../stack/shop-steps.ts';

const SHOP = '+33611110070';
const PERSON = '+33622220070';
const SLEEPER = '+33622220071';
/** Sends its receipt just before a kill. */
const HASTY = '+33622220075';
/** Handsets that are off, so messages to them do not arrive. */
const OFF = ['+33622220072', '+33622220073', '+33622220074'];
const GROUP = '120363000000000070@g.us';

const stack = sharedStack({}, async () => {
  await stack.network.setGroup(GROUP, {
    name: 'Neighbours',
    participants: [SHOP, PERSON, SLEEPER],
    admins: [SHOP],
  });
  await connectShop(stack, stack.shopId, SHOP);
});

async function send(to: string, text: string): Promise<string> {
  const sentAnswer = await until(`${text} is accepted`, async () => {
    const answer = await sendText(stack, stack.shopId, { to, text, idempotencyKey: text });
    return answer.status < 300 && answer;
  });
  const id = String(sentAnswer.data.id);
  await untilStatus(stack, id, 'sent');
  return id;
}

async function record(id: string): Promise<Readonly<Record<string, unknown>>> {
  return (await stack.api.get(`/messages/${id}`)).data;
}

test('delivered by itself, read when it is read, in this order on the feed', async () => {
  const { data } = await stack.api.get('/events');
  const id = await send(PERSON, 'one');
  const delivered = await until('it is delivered', async () => {
    const found = await record(id);
    return found.deliveredAt !== null && found;
  });
  assert.deepEqual([delivered.status, delivered.readAt], ['sent', null]);
  await stack.network.sendReceipts(PERSON, { to: SHOP });
  const read = await until('it is read', async () => {
    const found = await record(id);
    return found.readAt !== null && found;
  });
  assert.equal(read.deliveredAt, delivered.deliveredAt);
  assert.equal(read.updatedAt, delivered.updatedAt);
  const events = await stack.api.get(`/events?cursor=${data.nextCursor}`);
  const told = events.data.items as { type: string; data: { id: string } }[];
  assert.deepEqual(
    told.filter((event) => event.data.id === id).map(({ type }) => type),
    ['message.sent', 'message.delivered', 'message.read'],
  );
});

test('a phone’s receipt just before a kill is not lost: the network sends it again', async () => {
  await stack.network.setHandset(HASTY, false);
  const id = await send(HASTY, 'said before a kill');
  // The receipt comes now and is gathered for a quarter of a second. The service is gone before.
  await stack.network.setHandset(HASTY, true);
  await stack.end('SIGKILL');
  await stack.start();
  await until('it is delivered', async () => (await record(id)).deliveredAt !== null);
});

test('a phone that was off delivers late, to a service that was killed and started again', async () => {
  await stack.network.setHandset(SLEEPER, false);
  const id = await send(SLEEPER, 'two');
  assert.equal((await record(id)).deliveredAt, null);
  await stack.end('SIGKILL');
  await stack.network.setHandset(SLEEPER, true);
  await stack.start();
  const late = await until('it is delivered late', async () => {
    const found = await record(id).catch(() => undefined);
    return found?.deliveredAt != null && found;
  });
  assert.equal(late.status, 'sent');
});

test('members of a group count once each, and a forged receipt changes nothing', async () => {
  const id = await send(GROUP, 'three');
  await until('both have it', async () => (await record(id)).deliveredCount === 2);
  const [entry] = (await stack.network.inbox(PERSON)).items.filter(({ group }) => group === GROUP);
  const about = { to: SHOP, group: GROUP, id: entry?.messageId ?? '' };
  await stack.network.sendReceipts('+33622229999', { to: SHOP, id: about.id });
  await stack.network.sendReceipts('+33622229999', about);
  await stack.network.sendReceipts(PERSON, { to: SHOP, id: '3EB0FFFFFFFFFFFFFFFFFF' });
  await stack.network.sendReceipts(PERSON, about);
  await stack.network.sendReceipts(PERSON, about);
  const read = await until('one read it', async () => {
    const found = await record(id);
    return found.readAt !== null && found;
  });
  await stack.network.sendReceipts(PERSON, { ...about, type: 'delivered' });
  await stack.network.sendReceipts(SLEEPER, about);
  const both = await until('both read it', async () => {
    const found = await record(id);
    return found.readCount === 2 && found;
  });
  assert.deepEqual([both.deliveredCount, both.deliveredAt, both.readAt], [2, read.deliveredAt, read.readAt]);
});

/** Returns how many shops operators see whose messages reached no one for a day. */
async function undeliveredShops(): Promise<number | undefined> {
  const answer = await fetch(`${stack.adminUrl()}/metrics`, {
    headers: { authorization: `Bearer ${stack.adminToken}` },
  });
  const figure = /^msgapi_shops_in_trouble\{trouble="undelivered"\} (\d+)$/m.exec(await answer.text())?.[1];
  return figure === undefined ? undefined : Number(figure);
}

/** Has what the shop sent lie a day further back; the service does not run. */
async function letADayPass(): Promise<void> {
  const redis = new Redis(stack.redis.url);
  try {
    const { shop } = shopKeys(shardOf(stack.tenantId), stack.shopId);
    const { sinceMs, enoughSinceMs, ...rest } = JSON.parse((await redis.hget(shop, 'undelivered')) ?? '{}');
    const before = { sinceMs: sinceMs - DAY_MS, enoughSinceMs: enoughSinceMs - DAY_MS };
    await redis.hset(shop, 'undelivered', JSON.stringify({ ...rest, ...before }));
  } finally {
    redis.disconnect();
  }
}

test('messages that reach no one for a day show in the metric of shops in trouble, until one arrives', async () => {
  await stack.admin.post(`/tenants/${stack.tenantId}/customers`, { phones: OFF });
  for (const phone of OFF) await stack.network.setHandset(phone, false);
  for (const phone of OFF) await send(phone, `for ${phone}`);
  assert.equal(await undeliveredShops(), 0);
  await stack.end('SIGKILL');
  await letADayPass();
  await stack.start();
  await until('operators are told', async () => (await undeliveredShops()) === 1);
  await stack.network.setHandset(OFF[0] ?? '', true);
  await until('they are told no more', async () => (await undeliveredShops()) === 0);
});
