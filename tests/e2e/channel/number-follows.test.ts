/** Caps, warm-up and opt-outs are a number's: within a tenant they follow it from shop to shop. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { Redis } from 'ioredis';
import { shopKeys } from '../../../actors/shops/records/shop-keys.ts';
import { shardOf } from '../../../runtime/address.ts';
import { DAY_MS, MINUTE_MS } from '../../../runtime/durations.ts';
import { until } from '../../testbed/waiting.ts';
import { erase } from '../stack/erase.ts';
import { openEvents } from '../stack/event-reader.ts';
import { type MemoryStack, startMemoryStack } from '../stack/memory-stack.ts';
import { sendText, untilStatus } from '../stack/shop-steps.ts';

const CUSTOMERS = ['+33622220001', '+33622220002', '+33622220003', '+33622220004'];
const [FIRST = '', SECOND = '', THIRD = '', FOURTH = ''] = CUSTOMERS;
const STRANGER = '+33633330001';

let stack: MemoryStack;
let redis: Redis;
let numbers = 0;
let phone = '';
before(async () => {
  stack = await startMemoryStack({ paired: true, pairedAgoMs: 8 * DAY_MS });
  redis = new Redis(stack.redis.url);
  await stack.admin.patch(`/tenants/${stack.tenantId}`, { plan: 'scale' });
  await stack.admin.post(`/tenants/${stack.tenantId}/customers`, { phones: CUSTOMERS });
});
after(async () => {
  redis.disconnect();
  await stack.stop();
});
beforeEach(() => {
  numbers += 1;
  phone = `3361111${String(numbers).padStart(4, '0')}`;
  stack.network.behave({ paired: true, pairedAgoMs: 8 * DAY_MS, phone: () => phone });
});

const channelOf = (shopId: string): string => `/shops/${shopId}/channels/msgapp`;

async function makeShop(): Promise<string> {
  const createdAnswer = await stack.api.post('/shops', { name: `Shop ${Math.random()}` });
  return String(createdAnswer.data.id);
}

/** A shop whose phone was paired eight days ago, and is open now. */
async function agedShop(): Promise<string> {
  const shopId = await makeShop();
  const { data } = await stack.api.post(`${channelOf(shopId)}/connect`);
  assert.equal(data.status, 'connected');
  return shopId;
}

/** A phone scans the code of a shop; the channel once it is connected, or not to be. */
async function scanned(shopId: string): Promise<Readonly<Record<string, unknown>>> {
  stack.network.behave({ paired: false });
  const { data } = await stack.api.post(`${channelOf(shopId)}/connect`);
  assert.equal(data.status, 'qr_waiting');
  stack.network.scan(stack.session(shopId), phone);
  return until('the scan is settled', async () => {
    const { data: channel } = await stack.api.get(channelOf(shopId));
    return ['connected', 'disconnected'].includes(String(channel.status)) && channel;
  });
}

async function sent(shopId: string, to: string): Promise<void> {
  const acceptedAnswer = await sendText(stack, shopId, { to, text: `For ${to}` });
  assert.equal(acceptedAnswer.status, 202, JSON.stringify(acceptedAnswer.error));
  await untilStatus(stack, String(acceptedAnswer.data.id), 'sent');
}

async function refusal(shopId: string, to: string): Promise<string | undefined> {
  return (await sendText(stack, shopId, { to, text: `Once more, ${to}` })).error?.code;
}

async function countsOf(shopId: string): Promise<{ day: unknown; today: unknown }> {
  const { data } = await stack.api.get(`/shops/${shopId}/policy`);
  return { day: data.warmupDay, today: (data.usage as { today: number }).today };
}

test('a number that another shop has connected is refused at the scan, with the reason', async () => {
  const first = await agedShop();
  const second = await makeShop();
  const channel = await scanned(second);
  assert.deepEqual([channel.status, channel.reason], ['disconnected', 'NUMBER_IN_USE']);
  assert.equal((await stack.api.get(channelOf(first))).data.status, 'connected');
  const { data } = await stack.admin.get(`/actors/${stack.tenantId}/${second}`);
  const { lastEnd } = (data.details as { channel: { lastEnd: { end: string; detail: string } } }).channel;
  assert.equal(lastEnd.end, 'number_in_use');
  assert.match(lastEnd.detail, new RegExp(first));
  const shownAnswer = await stack.api.get(`/shops/${second}`);
  assert.deepEqual(shownAnswer.data.channelStatus, { msgapp: null }, 'it was never connected');
  // Nothing of the scan is left: the next connect shows a code, and no reason.
  const repeatedAnswer = await stack.api.post(`${channelOf(second)}/connect`);
  assert.deepEqual([repeatedAnswer.data.status, repeatedAnswer.data.reason], ['qr_waiting', undefined]);
});

test('a number that comes back at another shop brings its caps, its warm-up, its opt-outs and who wrote', async () => {
  const first = await agedShop();
  for (const to of [FIRST, SECOND, STRANGER]) await sent(first, to);
  assert.ok(await stack.network.inbound(stack.session(first), { from: STRANGER, text: 'Thank you' }));
  assert.ok(await stack.network.inbound(stack.session(first), { from: THIRD, text: 'STOP' }));
  await stack.api.post(`${channelOf(first)}/disconnect`);
  const second = await makeShop();
  assert.equal((await scanned(second)).status, 'connected');
  assert.deepEqual(await countsOf(second), { day: 8, today: 3 });
  assert.equal(await refusal(second, FIRST), 'RECIPIENT_RATE_LIMITED');
  assert.equal(await refusal(second, THIRD), 'RECIPIENT_OPTED_OUT');
  const knownAnswer = await sendText(stack, second, { to: STRANGER, text: 'You wrote' });
  assert.equal((knownAnswer.data.policy as { recipientClass: string }).recipientClass, 'known');
  await untilStatus(stack, String(knownAnswer.data.id), 'sent');

  // The first shop still has its credentials, and may not use them while the second has the number.
  const back = await stack.api.post(`${channelOf(first)}/connect`);
  assert.deepEqual([back.data.status, back.data.reason], ['disconnected', 'NUMBER_IN_USE']);
  await stack.api.post(`${channelOf(second)}/disconnect`);
  const resumedAnswer = await stack.api.post(`${channelOf(first)}/connect`);
  assert.equal(resumedAnswer.data.status, 'connected');
  assert.deepEqual(await countsOf(first), { day: 8, today: 4 }, 'what came back is counted once');
});

test('an erased shop’s number keeps its caps, its warm-up and its opt-outs, and nothing else', async () => {
  const first = await agedShop();
  for (const to of [FIRST, SECOND]) await sent(first, to);
  assert.ok(await stack.network.inbound(stack.session(first), { from: THIRD, text: 'STOP' }));
  assert.ok(await stack.network.inbound(stack.session(first), { from: FOURTH, text: 'Hello' }));
  await erase(stack.admin, `/tenants/${stack.tenantId}/shops/${first}`);
  const [kept = ''] = await until('something is kept', async () => {
    const keys = await redis.keys(`*tenant:${stack.tenantId}:number-left:*`);
    return keys.length === 1 && keys;
  });
  assert.ok(!kept.includes(phone));
  assert.ok(!(await redis.get(kept))?.includes(THIRD.slice(1)));
  const leftMs = await redis.pttl(kept);
  assert.ok(leftMs > 29 * DAY_MS && leftMs <= 30 * DAY_MS, `kept for ${leftMs} ms`);
  const second = await makeShop();
  assert.equal((await scanned(second)).status, 'connected');
  assert.deepEqual(await countsOf(second), { day: 8, today: 2 });
  assert.equal(await refusal(second, THIRD), 'RECIPIENT_OPTED_OUT');
  assert.deepEqual(await redis.keys(`*tenant:${stack.tenantId}:number-left:*`), [], 'it has it now');
  await sent(second, FIRST);
  assert.deepEqual(await countsOf(second), { day: 8, today: 3 });
});

test('the pause after a rate signal follows the number, also from an erased shop', async () => {
  const pausedUntil = async (shopId: string): Promise<unknown> => {
    const { data } = await stack.api.get(`/shops/${shopId}/policy`);
    return (data.queue as { pausedUntil: unknown }).pausedUntil;
  };
  const first = await agedShop();
  stack.network.behave({ outcome: () => ({ kind: 'rate_limited' }) });
  const waitingAnswer = await sendText(stack, first, { to: FIRST, text: 'Too many' });
  assert.equal(waitingAnswer.status, 202);
  const until15 = await until(
    'the network asked for a pause',
    async () => (await pausedUntil(first)) ?? false,
  );
  const leftMs = Date.parse(String(until15)) - Date.now();
  assert.ok(leftMs > 14 * MINUTE_MS && leftMs <= 15 * MINUTE_MS, `paused for ${leftMs} ms`);
  stack.network.behave({ outcome: () => ({ kind: 'acknowledged' }) });
  await stack.api.post(`${channelOf(first)}/disconnect`);
  const second = await makeShop();
  assert.equal((await scanned(second)).status, 'connected');
  assert.equal(await pausedUntil(second), until15);
  await erase(stack.admin, `/tenants/${stack.tenantId}/shops/${second}`);
  await until('something is kept', async () => {
    return (await redis.keys(`*tenant:${stack.tenantId}:number-left:*`)).length === 1;
  });
  const third = await makeShop();
  assert.equal((await scanned(third)).status, 'connected');
  assert.equal(await pausedUntil(third), until15);
  const queuedAnswer = await sendText(stack, third, { to: SECOND, text: 'Later' });
  assert.equal((await stack.api.get(`/messages/${queuedAnswer.data.id}`)).data.status, 'queued');
});

test('the restriction and the quota of new chats follow the number, also from an erased shop', async () => {
  const networkOf = async (shopId: string): Promise<unknown> =>
    (await stack.api.get(`/shops/${shopId}/policy`)).data.network;
  const first = await agedShop();
  const before = await networkOf(first);
  const endsAtMs = Date.now() + 6 * DAY_MS;
  stack.network.tellLimits(stack.session(first), {
    restriction: { isActive: true, kind: 'RESTRICT_ALL_COMPANIONS', endsAtMs },
    newChats: { quota: 9, used: 4, warning: 'first', endsAtMs },
  });
  const told = {
    restrictedUntil: new Date(endsAtMs).toISOString(),
    restriction: 'RESTRICT_ALL_COMPANIONS',
    newChats: { quota: 9, used: 4, endsAt: new Date(endsAtMs).toISOString() },
  };
  await until('the limits are known', async () => isDeepStrictEqual(await networkOf(first), told));
  await stack.api.post(`${channelOf(first)}/disconnect`);
  const second = await makeShop();
  assert.equal((await scanned(second)).status, 'connected');
  assert.deepEqual(await networkOf(second), told);
  assert.equal(await refusal(second, STRANGER), 'COLD_RECIPIENT_CAP_REACHED');
  await erase(stack.admin, `/tenants/${stack.tenantId}/shops/${second}`);
  await until('something is kept', async () => {
    return (await redis.keys(`*tenant:${stack.tenantId}:number-left:*`)).length === 1;
  });
  const third = await makeShop();
  assert.equal((await scanned(third)).status, 'connected');
  assert.deepEqual(await networkOf(third), told);
  // They are about the number: another one has none, and the first has them again.
  const former = phone;
  stack.network.drop(stack.session(third), 'logged_out', 401);
  await until('the loss is known', async () => {
    return (await stack.api.get(channelOf(third))).data.status === 'disconnected';
  });
  phone = `${former}9`;
  assert.equal((await scanned(third)).status, 'connected');
  assert.deepEqual(await networkOf(third), before);
  phone = former;
  const fourth = await makeShop();
  assert.equal((await scanned(fourth)).status, 'connected');
  assert.deepEqual(await networkOf(fourth), told);
});

test('a number that was not used for thirty days starts afresh', async () => {
  const first = await agedShop();
  await sent(first, FIRST);
  await stack.api.post(`${channelOf(first)}/disconnect`);
  const { shop } = shopKeys(shardOf(stack.tenantId), first);
  const stored = JSON.parse((await redis.hget(shop, 'actor')) ?? '');
  stored.channel.context.downSinceMs -= 30 * DAY_MS + 60_000;
  await redis.hset(shop, 'actor', JSON.stringify(stored));
  const second = await makeShop();
  assert.equal((await scanned(second)).status, 'connected');
  assert.deepEqual(await countsOf(second), { day: 0, today: 0 });
});

test('another number has separate counts, and the first gets its counts back', async () => {
  const former = phone;
  const first = await agedShop();
  await sent(first, FIRST);
  stack.network.drop(stack.session(first), 'logged_out', 401);
  await until('the loss is known', async () => {
    return (await stack.api.get(channelOf(first))).data.status === 'disconnected';
  });
  phone = `${former}9`;
  assert.equal((await scanned(first)).status, 'connected');
  assert.equal((await countsOf(first)).day, 0, 'a new number starts afresh');
  await sent(first, SECOND);
  phone = former;
  const second = await makeShop();
  assert.equal((await scanned(second)).status, 'connected');
  assert.deepEqual(await countsOf(second), { day: 8, today: 1 });
});

test('a new pairing of the same number at its own shop keeps the warm-up', async () => {
  const shopId = await agedShop();
  stack.network.drop(stack.session(shopId), 'logged_out', 401);
  await until('the loss is known', async () => {
    return (await stack.api.get(channelOf(shopId))).data.status === 'disconnected';
  });
  assert.equal((await scanned(shopId)).status, 'connected');
  assert.equal((await countsOf(shopId)).day, 8);
});

test('one of two shops that connect one number at the same moment gets it', async () => {
  const shops = await Promise.all([makeShop(), makeShop(), makeShop()]);
  await Promise.all(shops.map((shopId) => stack.api.post(`${channelOf(shopId)}/connect`)));
  const statuses = await until('one has the number', async () => {
    const channels = await Promise.all(shops.map((shopId) => stack.api.get(channelOf(shopId))));
    const told = channels.map(({ data }) => `${data.status} ${data.reason}`).sort();
    return told[1]?.startsWith('disconnected') && told;
  });
  const refused = 'disconnected NUMBER_IN_USE';
  assert.deepEqual(statuses, ['connected undefined', refused, refused]);
});

/** Opens a shop, and returns it and the key under which its number is noted with its tenants. */
async function notedShop(): Promise<{ readonly shopId: string; readonly key: string }> {
  const keys = (): Promise<string[]> => redis.keys('number-tenants:*');
  const knownKeys = await keys();
  const shopId = await agedShop();
  const key = await until('it is noted', async () => {
    const [found = ''] = (await keys()).filter((each) => !knownKeys.includes(each));
    return (await redis.pttl(found)) > 0 && found;
  });
  return { shopId, key };
}

test('operators see, by a digest, a number that two tenants connect, and neither is refused', async () => {
  const { shopId: own, key: noted } = await notedShop();
  const longAgo = 'c'.repeat(24);
  await redis.hset(noted, longAgo, Date.now() - 30 * DAY_MS - 60_000);
  const metric = async (): Promise<number> => {
    const answer = await fetch(`${new URL(stack.adminUrl()).origin}/metrics`, {
      headers: { authorization: `Bearer ${stack.adminToken}` },
    });
    return Number(/^msgapi_numbers_shared_total (\d+)$/m.exec(await answer.text())?.[1]);
  };
  assert.equal(await metric(), 0, 'shops of one tenant are no reason');
  const events = await openEvents(new URL(stack.adminUrl()).origin, stack.adminToken);
  const otherAnswer = await stack.admin.post('/tenants', { name: 'Other', plan: 'scale' });
  const tenantId = String(otherAnswer.data.id);
  const createdAnswer = await stack.admin.post(`/tenants/${tenantId}/shops`, { name: 'Twin' });
  await stack.admin.post(`/actors/${tenantId}/${createdAnswer.data.id}/connect`);
  const { data } = await events.until('number', () => true);
  events.close();
  assert.deepEqual(
    [data.shopId, data.state, data.otherTenants],
    [createdAnswer.data.id, 'shared', [stack.tenantId]],
  );
  await redis.hdel(noted, longAgo);
  assert.match(String(data.number), /^[\w-]{22}$/);
  assert.ok(!JSON.stringify(data).includes(phone));
  assert.equal(await metric(), 1);
  assert.equal((await stack.api.get(channelOf(own))).data.status, 'connected');
  const twin = await stack.admin.get(`/actors/${tenantId}/${createdAnswer.data.id}`);
  assert.equal(twin.data.state, 'connected');
  await erase(stack.admin, `/tenants/${tenantId}`);
  const kept = await until('nothing of the other tenant is kept', async () => {
    const [key = ''] = await redis.keys(`number-tenants:${data.number}`);
    const tenants = await redis.hkeys(key);
    return tenants.length === 1 && tenants;
  });
  assert.deepEqual(kept, [stack.tenantId]);
});

test('a number whose session reconnects by itself counts as in use from then on', async () => {
  const { shopId, key } = await notedShop();
  await redis.multi().hset(key, stack.tenantId, 1).pexpire(key, DAY_MS).exec();
  stack.network.drop(stack.session(shopId), 'transient', 428);
  const leftMs = await until('it is noted again', async () => {
    const [atMs, ttlMs] = [Number(await redis.hget(key, stack.tenantId)), await redis.pttl(key)];
    return atMs > 1 && ttlMs > DAY_MS && ttlMs;
  });
  assert.ok(leftMs > 29 * DAY_MS && leftMs <= 30 * DAY_MS, `remembered for ${leftMs} ms`);
});
