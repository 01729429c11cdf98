import assert from 'node:assert/strict';
import { test } from 'node:test';
import { getBinaryNodeChild, USyncQuery, USyncUser, type WAMessageUpdate } from '@whiskeysockets/baileys';
import type { FaultKind } from '../../simulator/control/faults.ts';
import { Fixture } from './fixture.ts';
import { MemoryAuth, TestClient } from './test-client.ts';

const SHOP = '+33611111111';
const CUSTOMER_ADDRESS = '33622222222@s.whatsapp.net';

const LIVE_CODES: readonly (readonly [FaultKind, number])[] = [
  ['drop', 428],
  ['stream_end', 428],
  ['replaced', 440],
  ['conflict', 440],
  ['unavailable', 503],
  ['restart', 515],
  ['bad_session', 500],
];

test('each fault of a live session gives the client its code, and the client may come back', async (context) => {
  const fixture = await Fixture.start(context);
  let client = await fixture.link(SHOP);
  for (const [kind, code] of LIVE_CODES) {
    assert.deepEqual(await fixture.control.fault(SHOP, kind), { kind, hit: 1, armed: 0 });
    assert.equal(await client.closed(), code, kind);
    client = fixture.keep(client.again());
    await client.opened();
  }
});

test('logged out: 401 at once, 401 at the next login, and no session left', async (context) => {
  const { fixture, client } = await Fixture.linked(context, SHOP);
  await fixture.control.fault(SHOP, 'logged_out');
  assert.equal(await client.closed(), 401);
  const secondClient = fixture.keep(client.again());
  assert.equal(await secondClient.closed(), 401);
  assert.deepEqual((await fixture.control.sessions()).items, []);
});

test('a client that logs itself out is unlinked', async (context) => {
  const { fixture, client } = await Fixture.linked(context, SHOP);
  await client.socket.logout();
  assert.equal(await client.closed(), 401);
  await client.until('unlinked', async () => (await fixture.control.sessions()).items.length === 0);
});

test('refused logins: 401, 403, 405 and 503, as often as asked', async (context) => {
  const { fixture, client } = await Fixture.linked(context, SHOP);
  await client.end();
  const codes = { unauthorized: 401, forbidden: 403, outdated: 405, login_unavailable: 503 } as const;
  for (const [kind, code] of Object.entries(codes)) {
    await fixture.control.fault(SHOP, kind as FaultKind);
    assert.equal(await fixture.keep(client.again()).closed(), code, kind);
  }
  const secondClient = fixture.keep(client.again());
  await secondClient.opened();
});

test("a client with a companion's name but another Noise key is refused", async (context) => {
  const { fixture, client } = await Fixture.linked(context, SHOP);
  const thief = new MemoryAuth();
  Object.assign(thief.creds, { me: client.auth.creds.me });
  assert.equal(await fixture.keep(new TestClient(fixture.simulator, thief)).closed(), 401);
  assert.equal((await fixture.control.sessions()).items[0]?.connected, true);
});

test('a second login on the same identity ends the first with 440', async (context) => {
  const { fixture, client } = await Fixture.linked(context, SHOP);
  const secondClient = fixture.keep(client.again());
  assert.equal(await client.closed(), 440);
  await secondClient.opened();
});

test('a refused upgrade gives the client no reason, and the next one is taken', async (context) => {
  const { fixture, client } = await Fixture.linked(context, SHOP);
  await fixture.control.fault(SHOP, 'refuse_upgrade', 1);
  assert.equal(await client.closed(), 428);
  const refusedClient = fixture.keep(client.again());
  await new Promise((resolve) => refusedClient.socket.ws.on('unexpected-response', resolve));
  assert.equal(
    refusedClient.updates.some(({ connection }) => connection === 'close'),
    false,
  );
  const secondClient = fixture.keep(client.again());
  await secondClient.opened();
});

test('a silent session ends by the keep-alive of the client; a deaf one answers pings and nothing else', async (context) => {
  const fixture = await Fixture.start(context);
  const config = { keepAliveIntervalMs: 200, defaultQueryTimeoutMs: 300 };
  const client = await fixture.link(SHOP, config);
  await fixture.control.fault(SHOP, 'deaf');
  const pings = (): number => client.stanzas.filter(({ attrs }) => attrs.type === 'result').length;
  const before = pings();
  await client.until('pings answered', () => pings() > before + 1);
  assert.equal(await client.socket.onWhatsApp(CUSTOMER_ADDRESS), undefined);
  const { id } = await fixture.control.write(CUSTOMER_ADDRESS.replace(/@.*/, ''), {
    to: SHOP,
    text: 'anyone?',
    wait: false,
  });
  await fixture.control.fault(SHOP, 'drop');
  await client.closed();
  assert.equal(
    client.messages.some(({ key }) => key.id === id),
    false,
  );
  const secondClient = fixture.keep(client.again(config));
  await secondClient.received('anyone?');
  await fixture.control.fault(SHOP, 'silent');
  assert.equal(await secondClient.closed(), 408);
});

test('a deaf session that is restored gets all that came meanwhile, without another login', async (context) => {
  const { fixture, client } = await Fixture.linked(context, SHOP);
  await fixture.control.fault(SHOP, 'deaf');
  const from = CUSTOMER_ADDRESS.replace(/@.*/, '');
  for (const text of ['one', 'two']) await fixture.control.write(from, { to: SHOP, text, wait: false });
  const [before] = (await fixture.control.sessions()).items;
  assert.equal(
    client.messages.some(({ message }) => message?.conversation === 'one'),
    false,
  );
  assert.deepEqual(await fixture.control.fault(SHOP, 'hears'), { kind: 'hears', hit: 1, armed: 0 });
  for (const text of ['one', 'two']) await client.received(text);
  assert.equal((await fixture.control.sessions()).items[0]?.since, before?.since);
});

test('ack errors refuse the next messages with their code and deliver nothing', async (context) => {
  const { fixture, client } = await Fixture.linked(context, SHOP);
  const updates: WAMessageUpdate[] = [];
  client.on('messages.update', (moreUpdates) => void updates.push(...moreUpdates));
  for (const code of [429, 463, 479]) {
    await fixture.control.ackErrors(SHOP, code, 1);
    const sentMessage = await client.socket.sendMessage(CUSTOMER_ADDRESS, { text: `refused with ${code}` });
    assert.equal((await client.ack(sentMessage?.key.id ?? '')).attrs.error, String(code));
  }
  assert.deepEqual((await fixture.control.inbox('33622222222')).items, []);
  const sentMessage = await client.socket.sendMessage(CUSTOMER_ADDRESS, { text: 'taken' });
  assert.equal((await client.ack(sentMessage?.key.id ?? '')).attrs.error, undefined);
  assert.equal((await fixture.control.inbox('33622222222')).items.length, 1);
});

test('an unacked message is delivered without an acknowledgement', async (context) => {
  const { fixture, client } = await Fixture.linked(context, SHOP);
  await fixture.control.fault(SHOP, 'unacked', 1);
  const silentMessage = await client.socket.sendMessage(CUSTOMER_ADDRESS, { text: 'one' });
  const heard = await client.socket.sendMessage(CUSTOMER_ADDRESS, { text: 'two' });
  await client.ack(heard?.key.id ?? '');
  const acked = client.stanzas.filter(
    ({ tag, attrs }) => tag === 'ack' && attrs.id === silentMessage?.key.id,
  );
  assert.deepEqual(acked, []);
  assert.deepEqual(
    (await fixture.control.inbox('33622222222')).items.map(({ text }) => text),
    ['one', 'two'],
  );
});

test('query errors reject as rate-overlimit, as often as asked', async (context) => {
  const { fixture, client } = await Fixture.linked(context, SHOP);
  await fixture.control.queryErrors(SHOP, { xmlns: 'usync' });
  await assert.rejects(
    client.socket.onWhatsApp('+33622222222'),
    (error: { message: string; data?: unknown }) => error.message === 'rate-overlimit' && error.data === 429,
  );
  assert.equal((await client.socket.onWhatsApp('+33622222222'))?.[0]?.exists, true);
});

test('an error of one protocol is inside the result of a look-up, without rows of that protocol', async (context) => {
  const { fixture, client } = await Fixture.linked(context, SHOP);
  const lookUp = () =>
    client.socket.executeUSyncQuery(
      new USyncQuery()
        .withDeviceProtocol()
        .withLIDProtocol()
        .withUser(new USyncUser().withId(CUSTOMER_ADDRESS)),
    );
  const results = () =>
    client.stanzas.flatMap((stanza) => {
      const result = getBinaryNodeChild(getBinaryNodeChild(stanza, 'usync'), 'result');
      return result === undefined ? [] : [result];
    });
  await fixture.control.usyncErrors(SHOP, { protocol: 'lid', backoff: 300 });
  const [row] = (await lookUp())?.list ?? [];
  assert.deepEqual([row?.lid, 'devices' in (row ?? {})], [undefined, true]);
  const error = getBinaryNodeChild(getBinaryNodeChild(results().at(-1), 'lid'), 'error');
  assert.deepEqual(error?.attrs, { code: '429', text: 'rate-overlimit', backoff: '300' });
  await fixture.control.usyncErrors(SHOP, { protocol: 'contact' });
  assert.deepEqual(await client.socket.onWhatsApp('+33622222222'), [], 'a list without rows');
  await fixture.control.fault(SHOP, 'unlisted', 1);
  assert.deepEqual((await lookUp())?.list, []);
  assert.equal((await lookUp())?.list.length, 1);
});

test('QR codes: used up they end the client with 408; expired, unknown and forged ones cannot be scanned', async (context) => {
  const fixture = await Fixture.start(context, { qrFirstMs: 0, qrNextMs: 0 });
  const client = fixture.keep(new TestClient(fixture.simulator, undefined, { qrTimeout: 20 }));
  const qr = await client.qr();
  await client.until('a second QR', () => client.updates.filter((update) => update.qr).length > 1);
  await assert.rejects(fixture.control.scan(qr, SHOP), { code: 'QR_EXPIRED', status: 410 });
  assert.equal(await client.closed(), 408);
  assert.equal(client.updates.filter((update) => update.qr).length, 6);
  await client.until('forgotten', () =>
    fixture.control.scan(qr, SHOP).catch((error: { code: string }) => error.code === 'QR_UNKNOWN'),
  );
  await assert.rejects(fixture.control.scan('https://example.org/#nonsense', SHOP), {
    code: 'VALIDATION_ERROR',
  });
});

test('a fifth companion replaces one that is offline', async (context) => {
  const fixture = await Fixture.start(context);
  const first = await fixture.link(SHOP);
  for (let index = 0; index < 3; index++) await fixture.link(SHOP);
  const crowd = fixture.keep(new TestClient(fixture.simulator));
  const qr = await crowd.qr();
  await assert.rejects(fixture.control.scan(qr, SHOP), { code: 'TOO_MANY_COMPANIONS', status: 409 });
  await first.end();
  await crowd.until('room', async () =>
    (await fixture.control.sessions()).items.some((item) => !item.connected),
  );
  const linked = await fixture.control.scan(qr, SHOP);
  assert.equal(linked.device, 5);
  assert.equal(await fixture.keep(first.again()).closed(), 401);
});
