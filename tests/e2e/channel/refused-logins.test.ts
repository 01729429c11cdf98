/** Logins that the network refuses, from the wire to what an owner and an operator see. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../testbed/waiting.ts';
import { sharedStack } from '../stack/shared-stack.ts';
import { connectShop } from '../stack/shop-steps.ts';

type Channel = Readonly<Record<string, unknown>>;

const stack = sharedStack();

async function connected(phone: string): Promise<string> {
  const { data } = await stack.api.post('/shops', { name: `Shop of ${phone}` });
  await connectShop(stack, String(data.id), phone);
  return String(data.id);
}

async function channelOf(shopId: string): Promise<Channel> {
  return (await stack.api.get(`/shops/${shopId}/channels/msgapp`)).data;
}

async function untilReason(shopId: string, reason: string): Promise<Channel> {
  return until(`the reason is ${reason}`, async () => {
    const channel = await channelOf(shopId);
    return channel.reason === reason && channel;
  });
}

async function eventsNow(): Promise<string> {
  return String((await stack.api.get('/events')).data.nextCursor);
}

async function eventSince(cursor: string, type: string): Promise<unknown> {
  const { data } = await stack.api.get(`/events?types=${type}&cursor=${cursor}`);
  return (data.items as { data: unknown }[])[0]?.data;
}

async function metric(line: RegExp): Promise<void> {
  await until(`the metric ${line.source}`, async () => {
    const answer = await fetch(`${stack.adminUrl()}/metrics`, {
      headers: { authorization: `Bearer ${stack.adminToken}` },
    });
    return line.test(await answer.text());
  });
}

test('a temporary ban is reported with its end and code, waited out, and ends by itself', async () => {
  const phone = '+33611110011';
  const shopId = await connected(phone);
  const cursor = await eventsNow();
  await stack.network.failLogins(phone, { reason: 402, attributes: { code: '104', expire: '7200' } });
  const bannedMs = Date.now();
  const channel = await untilReason(shopId, 'TEMPORARILY_BANNED');
  assert.deepEqual([channel.status, channel.networkCode], ['disconnected', 104]);
  const forMs = Date.parse(String(channel.bannedUntil)) - bannedMs;
  assert.ok(forMs > 7_190_000 && forMs < 7_300_000, `${forMs} ms`);
  const { data } = await stack.api.post(`/shops/${shopId}/channels/msgapp/connect`);
  assert.deepEqual(
    [data.status, data.reason, data.bannedUntil],
    ['disconnected', channel.reason, channel.bannedUntil],
  );
  const { bannedUntil } = channel;
  assert.deepEqual(await eventSince(cursor, 'channel.disconnected'), {
    shopId,
    reason: 'TEMPORARILY_BANNED',
    networkCode: 104,
    bannedUntil,
  });
  await metric(/^msgapi_session_ends_total\{end="temporarily_banned"\} 1$/m);
  await metric(/^msgapi_shops_in_trouble\{trouble="banned"\} 1$/m);
  await stack.end('SIGKILL');
  await stack.start();
  const after = await untilReason(shopId, 'TEMPORARILY_BANNED');
  assert.equal(after.bannedUntil, channel.bannedUntil, 'a restart logs in no sooner');
  const session = (await stack.network.sessions()).items.find((each) => each.phone === phone);
  assert.equal(session?.connected, false);
});

test('each refusal for a banned number says when the ban ends', async () => {
  const phone = '+33611110015';
  await stack.admin.patch(`/tenants/${stack.tenantId}`, { inbound: 'texts' });
  const shopId = await connected(phone);
  await stack.network.write('+33622220015', { to: phone, kind: 'document', fileBytes: 16 });
  const [inbound] = (await stack.api.get(`/shops/${shopId}/inbound`)).data.items as { id: string }[];
  await stack.network.failLogins(phone, { reason: 402, attributes: { code: '104', expire: '7200' } });
  const { bannedUntil } = await untilReason(shopId, 'TEMPORARILY_BANNED');
  const shop = `/shops/${shopId}`;
  const to = '+33622222222';
  const mostSeconds = Math.ceil((Date.parse(String(bannedUntil)) - Date.now()) / 1_000);
  const isRest = (seconds: number): boolean => seconds > mostSeconds - 60 && seconds <= mostSeconds;
  for (const reply of [
    await stack.api.post(`${shop}/messages`, { channel: 'msgapp', to, text: 'hello' }),
    await stack.api.post(`${shop}/messages`, { channel: 'msgapp', to: '1@g.us', text: 'hello' }),
    await stack.api.post(`${shop}/statuses`, { caption: 'hello' }),
    await stack.api.get(`${shop}/groups`),
    await stack.api.post(`/inbound/${inbound?.id}/read`, {}),
    await stack.api.get(`/inbound/${inbound?.id}/media`),
  ]) {
    const { code, retryAfter } = reply.error ?? {};
    assert.deepEqual([reply.status, code], [503, 'MSGAPP_NOT_CONNECTED']);
    assert.ok(isRest(Number(retryAfter)), `${retryAfter} of ${mostSeconds} s`);
    assert.equal(reply.headers.get('retry-after'), String(retryAfter));
  }
  const { data } = await stack.api.get(`${shop}/policy?to=${encodeURIComponent(to)}`);
  assert.deepEqual([data.wouldAllow, data.code], [false, 'MSGAPP_NOT_CONNECTED']);
  assert.ok(isRest(Number(data.retryAfter)), `${data.retryAfter} of ${mostSeconds} s`);
});

test('a ban ends the session permanently, like a lock, and is reported', async () => {
  for (const [phone, reason] of [
    ['+33611110012', 406],
    ['+33611110013', 403],
  ] as const) {
    const shopId = await connected(phone);
    const cursor = await eventsNow();
    await stack.network.failLogins(phone, { reason });
    const channel = await untilReason(shopId, 'NUMBER_RESTRICTED');
    assert.deepEqual([channel.status, channel.networkCode], ['disconnected', reason]);
    assert.deepEqual(await eventSince(cursor, 'channel.session_lost'), {
      shopId,
      reason: 'NUMBER_RESTRICTED',
      networkCode: reason,
    });
  }
});

test('a login that the network refuses for another reason is reported at once, and tried again later', async () => {
  const phone = '+33611110014';
  const shopId = await connected(phone);
  await stack.network.failLogins(phone, { reason: 409, count: 100 });
  const channel = await untilReason(shopId, 'LOGIN_REFUSED');
  assert.deepEqual([channel.status, channel.networkCode], ['starting', 409]);
  await metric(/^msgapi_session_ends_total\{end="login_refused"\} 1$/m);
  await metric(/^msgapi_shops_in_trouble\{trouble="login_refused"\} 1$/m);
});
