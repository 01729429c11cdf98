/** Pairing by a code that is typed on the phone, through the API (docs/contract.md, Pairing by code). */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Redis } from 'ioredis';
import { until } from '../../testbed/waiting.ts';
import { sharedStack } from '../stack/shared-stack.ts';
import { connectShop } from '../stack/shop-steps.ts';

const PHONE = '+33611110061';
const OTHER_PHONE = '+33611110062';
/** Another shop has this number. */
const TAKEN_PHONE = '+33611110063';

let redis: Redis;
after(() => redis.disconnect());
const stack = sharedStack({ logLevel: 'trace' }, async () => {
  redis = new Redis(stack.redis.url);
  await connectShop(stack, await newShop('First till'), TAKEN_PHONE);
});
const shown: string[] = [];

const ask = (shopId: string, phone: string) =>
  stack.api.post(`/shops/${shopId}/channels/msgapp/pairing-code`, { phone });
const poll = async (shopId: string) => (await stack.api.get(`/shops/${shopId}/channels/msgapp/connect`)).data;

/** The code that the shop shows, other than the last one. */
async function codeOf(shopId: string, last?: unknown): Promise<string> {
  const code = await until('a code is shown', async () => {
    const { code } = await poll(shopId);
    return code !== undefined && code !== last && String(code);
  });
  shown.push(code);
  return code;
}

async function newShop(name: string): Promise<string> {
  return String((await stack.api.post('/shops', { name })).data.id);
}

test('a code is shown, typed on the phone after a slip, and the shop is connected', async () => {
  const { status, data } = await ask(stack.shopId, PHONE);
  assert.deepEqual([status, data.status, data.pollAfterMs, data.qr], [200, 'starting', 2_000, undefined]);
  assert.match(String(data.code), /^[0-9A-Z]{8}$/);
  const leftMs = Date.parse(String(data.expiresAt)) - Date.now();
  assert.ok(leftMs > 120_000 && leftMs <= 160_000, `${leftMs} ms`);
  assert.equal(await codeOf(stack.shopId), data.code, 'whoever polls sees it, too');
  assert.equal((await ask(stack.shopId, PHONE)).data.code, data.code, 'asked again, the same');
  await assert.rejects(stack.network.typeCode('AAAAAAAA', PHONE), /not the code/);
  await assert.rejects(stack.network.typeCode(String(data.code), OTHER_PHONE), /No client waits/);
  await stack.network.typeCode(String(data.code), PHONE);
  const connected = await until('it is connected', async () => {
    const channel = await poll(stack.shopId);
    return channel.status === 'connected' && channel;
  });
  assert.deepEqual([connected.phone, connected.code], [PHONE.slice(1), undefined]);
  const again = await ask(stack.shopId, PHONE);
  assert.deepEqual([again.status, again.error?.code], [409, 'MSGAPP_ALREADY_LINKED']);
});

test('a number that another shop has is refused after the code is typed, as after a scan', async () => {
  const shopId = await newShop('Second till');
  await ask(shopId, TAKEN_PHONE);
  await stack.network.typeCode(await codeOf(shopId), TAKEN_PHONE);
  const refused = await until('it is refused', async () => {
    const channel = await poll(shopId);
    return channel.status === 'disconnected' && channel;
  });
  assert.equal(refused.reason, 'NUMBER_IN_USE');
});

test('a QR code replaces the code, and a code replaces a QR code', async () => {
  const shopId = await newShop('Third till');
  await ask(shopId, OTHER_PHONE);
  const first = await codeOf(shopId);
  const connect = await stack.api.post(`/shops/${shopId}/channels/msgapp/connect`);
  assert.deepEqual([connect.data.status, connect.data.code], ['qr_waiting', undefined]);
  const { data } = await ask(shopId, OTHER_PHONE);
  assert.deepEqual([data.status, data.qr], ['starting', undefined]);
  assert.notEqual(data.code, first);
  shown.push(String(data.code));
  const ended = await stack.api.post(`/shops/${shopId}/channels/msgapp/disconnect`);
  assert.deepEqual([ended.data.status, ended.data.code], ['disconnected', undefined]);
});

test('a node that is killed while a code waits shows another one when it is back, and that one connects', async () => {
  const shopId = await newShop('Fourth till');
  await ask(shopId, OTHER_PHONE);
  const before = await codeOf(shopId);
  await stack.end('SIGKILL');
  await stack.start();
  await stack.network.typeCode(await codeOf(shopId, before), OTHER_PHONE);
  await until('it is connected', async () => (await poll(shopId)).status === 'connected');
});

test('the log and Redis contain no code', async () => {
  const shopId = await newShop('Sixth till');
  await ask(shopId, OTHER_PHONE);
  await codeOf(shopId);
  const kept = await Promise.all((await redis.keys('*')).map((key) => redis.dumpBuffer(key)));
  for (const code of shown) {
    assert.ok(!stack.serviceLog().includes(code), 'the log holds a code');
    assert.ok(!kept.some((dump) => dump?.includes(code)), 'Redis holds a code');
  }
});

// This is the last test, because the network is left alone after it.
test('a number without an account on the network is named; a network that was asked too much is left alone', async () => {
  const shopId = await newShop('Fifth till');
  await stack.network.setNumber('+33611110069', false);
  const unknown = await ask(shopId, '+33611110069');
  assert.deepEqual([unknown.status, unknown.error?.code], [422, 'PAIRING_CODE_REFUSED']);
  assert.deepEqual(
    unknown.error?.fields?.map(({ field }) => field),
    ['phone'],
  );
  await stack.network.queryErrors('+33611110068', { xmlns: 'md', code: 429 });
  const limited = await ask(shopId, '+33611110068');
  assert.deepEqual([limited.status, limited.error?.code], [429, 'PAIRING_RATE_LIMITED']);
  assert.match(limited.error?.message ?? '', /^The chat network said/);
  const seconds = Number(limited.headers.get('retry-after'));
  assert.ok(seconds > 800 && seconds <= 900, `${seconds} s`);
  assert.equal((await ask(shopId, OTHER_PHONE)).error?.code, 'PAIRING_RATE_LIMITED');
});
