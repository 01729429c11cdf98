import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Fixture } from './fixture.ts';
import { TestClient } from './test-client.ts';

const SHOP = '+33611111111';
const CUSTOMER = '+33622222222';

test('a client pairs by QR code, opens, and comes back without a new scan', async (context) => {
  const fixture = await Fixture.start(context);
  const startedAt = performance.now();
  const client = await fixture.link(SHOP);
  context.diagnostic(`pairing and open: ${Math.round(performance.now() - startedAt)} ms`);
  assert.equal(client.auth.creds.me?.id, '33611111111:1@s.whatsapp.net');
  await client.end();
  const secondClient = fixture.keep(client.again());
  await secondClient.opened();
  assert.equal(
    secondClient.updates.some(({ qr }) => qr),
    false,
  );
  const sessions = await fixture.control.sessions();
  assert.deepEqual(
    sessions.items.map(({ phone, connected }) => ({ phone, connected })),
    [{ phone: SHOP, connected: true }],
  );
});

test('two clients that one phone scans at the same time are two companions', async (context) => {
  const fixture = await Fixture.start(context);
  const clients = [1, 2].map(() => fixture.keep(new TestClient(fixture.simulator)));
  const codes = await Promise.all(
    clients.map((client) => client.until('qr', () => client.updates.find(({ qr }) => qr)?.qr)),
  );
  await Promise.all(codes.map((qr) => fixture.control.scan(qr, SHOP)));
  for (const client of clients) assert.equal(await client.closed(), 515);
  const secondClients = clients.map((client) => fixture.keep(client.again()));
  await Promise.all(secondClients.map((client) => client.opened()));
  const { items } = await fixture.control.sessions();
  assert.deepEqual(
    items.map(({ device, connected }) => ({ device, connected })),
    [
      { device: 1, connected: true },
      { device: 2, connected: true },
    ],
  );
});

test('a text sent to a LID reaches the phone with the composing seen, and is acknowledged', async (context) => {
  const { fixture, client } = await Fixture.linked(context, SHOP);
  const [found] = (await client.socket.onWhatsApp(CUSTOMER)) ?? [];
  assert.deepEqual(found, { jid: '33622222222@s.whatsapp.net', exists: true });
  const lid = await client.socket.signalRepository.lidMapping.getLIDForPN('33622222222@s.whatsapp.net');
  assert.match(lid ?? '', /^\d{15}@lid$/);
  await client.socket.sendPresenceUpdate('composing', lid ?? '');
  const number = { peer_recipient_pn: '33622222222@s.whatsapp.net' };
  const id = await client.socket.relayMessage(
    lid ?? '',
    { conversation: 'Bonjour' },
    { additionalAttributes: number },
  );
  const ack = await client.ack(id);
  assert.equal(ack.attrs.error, undefined);
  const { items } = await fixture.control.inbox(CUSTOMER);
  assert.equal(items.length, 1);
  const [entry] = items;
  assert.equal(entry?.from, SHOP);
  assert.equal(entry?.text, 'Bonjour');
  assert.equal(entry?.composingSeen, true);
  assert.equal(entry?.messageId, id);
});

test('a text sent to a phone number address arrives as well, and the chat continues both ways', async (context) => {
  const { fixture, client } = await Fixture.linked(context, SHOP);
  const address = '33622222222@s.whatsapp.net';
  for (const text of ['one', 'two']) {
    const sentMessage = await client.socket.sendMessage(address, { text });
    await client.ack(sentMessage?.key.id ?? '');
  }
  const answer = await fixture.control.write(CUSTOMER, { to: SHOP, text: 'three' });
  assert.equal(answer.delivered, true);
  const receivedMessage = await client.received('three');
  assert.equal(receivedMessage.key.remoteJidAlt, address);
  const sentMessage = await client.socket.sendMessage(address, { text: 'four' });
  await client.ack(sentMessage?.key.id ?? '');
  const { items } = await fixture.control.inbox(CUSTOMER);
  assert.deepEqual(
    items.map(({ text, composingSeen }) => ({ text, composingSeen })),
    ['one', 'two', 'four'].map((text) => ({ text, composingSeen: false })),
  );
});

test('a contact may write first, from its LID or its number, and the control call waits for the receipt', async (context) => {
  const { fixture, client } = await Fixture.linked(context, SHOP);
  for (const addressing of ['lid', 'pn'] as const) {
    const result = await fixture.control.write(CUSTOMER, {
      to: SHOP,
      text: `from ${addressing}`,
      addressing,
    });
    assert.equal(result.delivered, true);
    const message = await client.received(`from ${addressing}`);
    assert.equal(message.key.id, result.id);
    assert.equal(message.key.addressingMode, addressing);
  }
});

test('a client that syncs history gets its first message at once, not after 20 s', async (context) => {
  const fixture = await Fixture.start(context);
  const client = await fixture.link(SHOP, { shouldSyncHistoryMessage: () => true });
  await fixture.control.write(CUSTOMER, { to: SHOP, text: 'hello' });
  await client.received('hello');
  assert.equal(client.auth.creds.accountSyncCounter, 1);
});

test('a dropped client gets 428', async (context) => {
  const { fixture, client } = await Fixture.linked(context, SHOP);
  await fixture.control.fault(SHOP, 'drop');
  assert.equal(await client.closed(), 428);
});

test('a simulator restarted on its data knows its companions, sessions, inboxes and root key', async (context) => {
  const { fixture, client } = await Fixture.linked(context, SHOP);
  const address = '33622222222@s.whatsapp.net';
  await client.ack((await client.socket.sendMessage(address, { text: 'before' }))?.key.id ?? '');
  await fixture.control.write(CUSTOMER, { to: SHOP, text: 'hello' });
  const { noiseRootKey } = fixture.simulator;
  await fixture.restart();
  assert.equal(await client.closed(), 428);
  assert.equal(fixture.simulator.noiseRootKey, noiseRootKey);
  const secondClient = fixture.keep(new TestClient(fixture.simulator, client.auth));
  await secondClient.opened();
  await secondClient.ack((await secondClient.socket.sendMessage(address, { text: 'after' }))?.key.id ?? '');
  assert.equal((await fixture.control.write(CUSTOMER, { to: SHOP, text: 'still here' })).delivered, true);
  await secondClient.received('still here');
  const { items } = await fixture.control.inbox(CUSTOMER);
  assert.deepEqual(
    items.map(({ text, duplicates }) => ({ text, duplicates })),
    [
      { text: 'before', duplicates: 0 },
      { text: 'after', duplicates: 0 },
    ],
  );
});

for (const [country, canonical, other] of [
  ['Brazil', '+553196348800', '+5531996348800'],
  ['Mexico', '+525512345678', '+5215512345678'],
  ['Argentina', '+541123456789', '+5491123456789'],
] as const) {
  test(`a number of ${country} with two forms answers to both with one address, and the other reaches no one`, async (context) => {
    const fixture = await Fixture.start(context);
    await fixture.control.setNumber(canonical, true, [other]);
    const client = await fixture.link(SHOP);
    for (const form of [canonical, other]) {
      const found = await client.socket.onWhatsApp(form);
      assert.deepEqual(found, [{ jid: `${canonical.slice(1)}@s.whatsapp.net`, exists: true }], form);
    }
    await assert.rejects(
      fixture.control.write(other, { to: SHOP, text: 'From nobody' }),
      /not on the network/,
    );
    const sentMessage = await client.socket.sendMessage(`${canonical.slice(1)}@s.whatsapp.net`, {
      text: 'Bom dia',
    });
    await client.ack(sentMessage?.key.id ?? '');
    const inboxes = await Promise.all([canonical, other].map((form) => fixture.control.inbox(form)));
    assert.deepEqual(
      inboxes.map(({ items }) => items.map(({ text }) => text)),
      [['Bom dia'], []],
    );
    await fixture.control.setNumber(other, true);
    const own = await client.socket.onWhatsApp(other);
    assert.deepEqual(own, [{ jid: `${other.slice(1)}@s.whatsapp.net`, exists: true }]);
  });
}

test('a contact may be named by LID alone', async (context) => {
  const { fixture, client } = await Fixture.linked(context, SHOP);
  const { lid } = await fixture.control.setNumber(CUSTOMER, true);
  await fixture.control.write(CUSTOMER, { to: SHOP, text: 'Who am I?', addressing: 'lid_only' });
  const { key } = await client.received('Who am I?');
  assert.deepEqual([key.remoteJid, key.remoteJidAlt], [lid, undefined]);
});
