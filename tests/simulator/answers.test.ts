/** The network wants two things of its clients: an answer to each stanza, and to be asked for what waited. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BinaryNode } from '@whiskeysockets/baileys';
import { MINUTE_MS } from '../../runtime/durations.ts';
import { Fixture } from './fixture.ts';
import type { TestClient } from './test-client.ts';

const SHOP = '+33611111111';
const CUSTOMER = '+33622222222';
const CONTACT = '+33633333333';
const GROUP = '120363000000000021@g.us';
const FIFTY_MINUTES = 50 * MINUTE_MS;

const childOf = ({ content }: BinaryNode): BinaryNode | undefined =>
  Array.isArray(content) ? content[0] : undefined;

/** The first `ib` with that child, once it came. */
const ib = (client: TestClient, tag: string): Promise<BinaryNode> =>
  client.until(tag, () => client.stanzas.map(childOf).find((child) => child?.tag === tag));

/** Logs a client in again, for which its phone has nothing more. */
async function comesBack(fixture: Fixture): Promise<TestClient> {
  const first = await fixture.link(SHOP);
  await first.until('its history is taken', async () => {
    const { waiting, unacknowledged } = await fixture.control.unanswered(SHOP);
    return waiting.length === 0 && unacknowledged.every((stanza) => stanza.class !== 'notification');
  });
  await first.end();
  const client = fixture.keep(first.again());
  await client.opened();
  return client;
}

for (const kind of ['status', 'appdata'] as const) {
  test(`a stanza ${kind} that is not acknowledged for 50 minutes ends the stream, and comes again`, async (context) => {
    const fixture = await Fixture.start(context);
    const client = await comesBack(fixture);
    const { ids } = await fixture.control.arrive(
      SHOP,
      kind === 'status' ? { kind, from: CONTACT } : { kind },
    );
    await client.until('the stanza', () => client.stanzas.some(({ tag }) => tag === kind));
    await fixture.control.forward(FIFTY_MINUTES - 60_000);
    assert.equal(
      client.stanzas.some(({ tag }) => tag === 'stream:error'),
      false,
    );
    await fixture.control.forward(60_000);
    assert.equal(await client.closed(), 500);
    const error = client.stanzas.find(({ tag }) => tag === 'stream:error');
    const { class: stanzaClass, id } = (error && childOf(error))?.attrs ?? {};
    assert.deepEqual([stanzaClass, id], [kind, ids[0]]);
    const secondClient = fixture.keep(client.again());
    const sameNode = await secondClient.until('the stanza again', () =>
      secondClient.stanzas.find(({ tag }) => tag === kind),
    );
    assert.deepEqual([sameNode.attrs.id, sameNode.attrs.offline], [ids[0], '0']);
  });
}

test('a message that was receipted and not acknowledged ends the stream as well', async (context) => {
  const fixture = await Fixture.start(context);
  const client = await comesBack(fixture);
  assert.equal((await fixture.control.write(CUSTOMER, { to: SHOP, text: 'Bonjour' })).delivered, true);
  await fixture.control.forward(FIFTY_MINUTES);
  assert.equal(await client.closed(), 500);
});

test('an unreadable status, answered with an error, comes first at each login and withholds all else', async (context) => {
  const { fixture, client } = await Fixture.linked(context, SHOP);
  const { ids } = await fixture.control.arrive(SHOP, {
    kind: 'status_message',
    from: CONTACT,
    readable: false,
  });
  const isBlocking = async (): Promise<boolean> => {
    const { waiting } = await fixture.control.unanswered(SHOP);
    return waiting.some(({ blocking }) => blocking);
  };
  await client.until('the error', isBlocking);
  await fixture.control.write(CUSTOMER, { to: SHOP, text: 'STOP', wait: false });
  await client.end();
  const secondClient = fixture.keep(client.again());
  await secondClient.opened();
  const first = await secondClient.until('the status', () =>
    secondClient.stanzas.find(({ tag }) => tag === 'message'),
  );
  assert.equal(first.attrs.id, ids[0]);
  // A stanza that had left would arrive before the answer to this query.
  await secondClient.socket.onWhatsApp(CUSTOMER);
  assert.equal(secondClient.stanzas.filter(({ tag }) => tag === 'message').length, 1);
  await secondClient.socket.sendNode({
    tag: 'ack',
    attrs: {
      id: ids[0] ?? '',
      to: 'status@broadcast',
      class: 'message',
      participant: first.attrs.participant ?? '',
    },
  });
  await secondClient.received('STOP');
});

test('an unreadable status also withholds notifications, a change of a group, and an answer to a retry', async (context) => {
  const fixture = await Fixture.start(context);
  await fixture.control.setGroup(GROUP, { name: 'Before', participants: [SHOP, CONTACT] });
  const client = await fixture.link(SHOP);
  const status = { kind: 'status_message', from: CONTACT, readable: false } as const;
  const [statusId = ''] = (await fixture.control.arrive(SHOP, status)).ids;
  const stanzaOf = (id: string): BinaryNode | undefined =>
    client.stanzas.find(({ tag, attrs }) => tag !== 'ack' && attrs.id === id);
  await client.until('the error', async () => {
    const { waiting } = await fixture.control.unanswered(SHOP);
    return waiting.some(({ blocking }) => blocking);
  });
  const [noticeId = ''] = (await fixture.control.notify(SHOP, { kind: 'unknown_setting' })).ids;
  await fixture.control.setGroup(GROUP, { name: 'After', participants: [SHOP, CONTACT] });
  const { id } = await fixture.control.write(CUSTOMER, { to: SHOP, text: 'Bonjour', wait: false });
  const retry = { tag: 'retry', attrs: { count: '1', id, t: '0', v: '1' } };
  const to = '33622222222@s.whatsapp.net';
  await client.socket.sendNode({ tag: 'receipt', attrs: { id, to, type: 'retry' }, content: [retry] });
  // A stanza that had left would arrive before the answer to this query.
  await client.socket.onWhatsApp(CUSTOMER);
  const changes = (): BinaryNode[] => client.stanzas.filter(({ attrs }) => attrs.type === 'w:gp2');
  assert.deepEqual([stanzaOf(noticeId), changes(), stanzaOf(id)], [undefined, [], undefined]);
  const participant = stanzaOf(statusId)?.attrs.participant ?? '';
  const ack = { id: statusId, to: 'status@broadcast', class: 'message', participant };
  await client.socket.sendNode({ tag: 'ack', attrs: ack });
  await client.until('the notification', () => stanzaOf(noticeId));
  await client.until('the change', () => changes().length === 1);
  await client.until('the message', () => stanzaOf(id));
});

test('a client that was away is asked for more keys once, however many people took one', async (context) => {
  const fixture = await Fixture.start(context);
  const client = await comesBack(fixture);
  await client.end();
  for (let person = 0; person < 8; person += 1)
    await fixture.control.write(`+3362222220${person}`, { to: SHOP, text: 'Bonjour', wait: false });
  const secondClient = fixture.keep(client.again());
  await secondClient.opened();
  await ib(secondClient, 'offline');
  const askedNodes = secondClient.stanzas.filter(({ attrs }) => attrs.type === 'encrypt');
  assert.deepEqual(
    askedNodes.map(({ attrs }) => attrs.offline !== undefined),
    [true],
  );
});

test('waiting stanzas are announced, and beyond five they come as the client asks for them, then the end', async (context) => {
  const fixture = await Fixture.start(context);
  const client = await comesBack(fixture);
  await client.end();
  await fixture.control.arrive(SHOP, { kind: 'appdata', count: 120 });
  await fixture.control.arrive(SHOP, { kind: 'newsletter', count: 3 });
  await fixture.control.notify(SHOP, { kind: 'devices_updated', from: CONTACT });
  await fixture.control.notify(SHOP, { kind: 'unknown_setting' });
  const secondClient = fixture.keep(client.again());
  const { attrs } = await ib(secondClient, 'offline_preview');
  assert.deepEqual(attrs, { appdata: '120', message: '3', notification: '2', count: '125' });
  const came = (): number =>
    secondClient.stanzas.filter((stanza) => stanza.attrs.offline !== undefined).length;
  // The client asks once, for a hundred.
  await secondClient.until('a batch', () => came() === 105);
  await secondClient.opened();
  await secondClient.socket.onWhatsApp(CUSTOMER);
  assert.equal(came(), 105);
  await secondClient.socket.sendNode({
    tag: 'ib',
    attrs: {},
    content: [{ tag: 'offline_batch', attrs: { count: '100' } }],
  });
  assert.equal((await ib(secondClient, 'offline')).attrs.count, '125');
  assert.equal(came(), 125);
});

test('receipts of a group’s phones come after the acknowledgement of the post', async (context) => {
  const fixture = await Fixture.start(context);
  await fixture.control.setGroup(GROUP, { name: 'G', participants: [SHOP, CUSTOMER, CONTACT] });
  const client = await fixture.link(SHOP);
  const sentMessage = await client.socket.sendMessage(GROUP, { text: 'Bonjour' });
  const stanzasAbout = (): BinaryNode[] =>
    client.stanzas.filter(({ attrs }) => attrs.id === sentMessage?.key.id);
  await client.until(
    'both receipts',
    () => stanzasAbout().filter(({ tag }) => tag === 'receipt').length === 2,
  );
  assert.deepEqual(
    stanzasAbout().map(({ tag }) => tag),
    ['ack', 'receipt', 'receipt'],
  );
});
