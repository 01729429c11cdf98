import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Fixture } from './fixture.ts';

const SHOP = '+33611111111';
const CUSTOMER = '+33622222222';
const CUSTOMER_ADDRESS = '33622222222@s.whatsapp.net';

test('a message unreceipted when its client dies is delivered again under its id until a receipt comes', async (context) => {
  const { fixture, client } = await Fixture.linked(context, SHOP);
  const forgetWhatFollows = client.auth.snapshot();
  // Deaf, so that the client's receipt is lost as it is when its process dies first.
  await fixture.control.fault(SHOP, 'deaf');
  const writing = fixture.control.write(CUSTOMER, { to: SHOP, text: 'STOP', wait: false });
  const { id, delivered } = await writing;
  assert.equal(delivered, false);
  await client.kill();
  forgetWhatFollows();
  for (const offline of [true, false]) {
    const secondClient = fixture.keep(client.again());
    await secondClient.opened();
    if (offline) {
      const message = await secondClient.received('STOP');
      assert.equal(message.key.id, id);
    } else {
      await secondClient.until('the end of what waited', () =>
        secondClient.updates.some(({ receivedPendingNotifications }) => receivedPendingNotifications),
      );
      assert.deepEqual(secondClient.messages, [], 'a receipted message is not delivered again');
    }
    await secondClient.end();
  }
});

test('a message without a receipt of a killed client is delivered again, and does not count as delivered', async (context) => {
  const fixture = await Fixture.start(context, { clientWaitMs: 2_000 });
  const client = await fixture.link(SHOP);
  const before = client.auth.snapshot();
  // Cut the moment it would send anything more: it has read the message, and the network cannot know.
  client.dieInsteadOfSending();
  const first = await fixture.control.write(CUSTOMER, { to: SHOP, text: 'are you there?' });
  assert.equal(first.delivered, false);
  before();
  const secondClient = fixture.keep(client.again());
  await secondClient.opened();
  const message = await secondClient.received('are you there?');
  assert.equal(message.key.id, first.id);
});

test('a message written while the client is away waits for it, in order', async (context) => {
  const fixture = await Fixture.start(context, { clientWaitMs: 2_000 });
  const client = await fixture.link(SHOP);
  await client.end();
  await fixture.control.write(CUSTOMER, { to: SHOP, text: 'one' });
  await fixture.control.write(CUSTOMER, { to: SHOP, text: 'two', wait: false });
  await fixture.restart();
  const secondClient = fixture.keep(client.again());
  await secondClient.opened();
  await secondClient.received('two');
  assert.deepEqual(
    secondClient.messages.flatMap(({ message }) => message?.conversation ?? []),
    ['one', 'two'],
  );
});

test('a client that lost its session asks again and reads the message of a fresh one', async (context) => {
  const { fixture, client } = await Fixture.linked(context, SHOP);
  await fixture.control.write(CUSTOMER, { to: SHOP, text: 'hello' });
  await client.received('hello');
  await client.auth.keys.set({
    session: Object.fromEntries(client.auth.idsOf('session').map((id) => [id, null])),
  });
  const answeredMessage = await client.socket.sendMessage(CUSTOMER_ADDRESS, {
    text: 'a new session of mine',
  });
  await client.ack(answeredMessage?.key.id ?? '');
  const { delivered } = await fixture.control.write(CUSTOMER, { to: SHOP, text: 'still you?' });
  assert.equal(delivered, true);
  await client.received('still you?');
});

test('a message the client cannot decrypt is encrypted again at its retry receipt', async (context) => {
  const { fixture, client } = await Fixture.linked(context, SHOP);
  await fixture.control.write(CUSTOMER, { to: SHOP, text: 'hello' });
  await client.received('hello');
  const sentMessage = await client.socket.sendMessage(CUSTOMER_ADDRESS, {
    text: 'so that both sides have answered',
  });
  await client.ack(sentMessage?.key.id ?? '');
  await fixture.control.write(CUSTOMER, { to: SHOP, text: 'and again' });
  await client.received('and again');
  await client.end();
  await client.auth.keys.set({
    session: Object.fromEntries(client.auth.idsOf('session').map((id) => [id, null])),
  });
  const amnesiac = fixture.keep(client.again());
  await amnesiac.opened();
  const { delivered, id } = await fixture.control.write(CUSTOMER, { to: SHOP, text: 'do you remember me?' });
  assert.equal(delivered, true);
  const message = await amnesiac.received('do you remember me?');
  assert.equal(message.key.id, id);
  const tries = amnesiac.stanzas.filter(({ tag, attrs }) => tag === 'message' && attrs.id === id);
  assert.equal(tries.length, 2, 'once unreadable, once anew');
});

test('a phone that lost its session asks the client again and shows the message once', async (context) => {
  const fixture = await Fixture.start(context);
  const client = await fixture.link(SHOP, { getMessage: async () => ({ conversation: 'second' }) });
  await client.ack((await client.socket.sendMessage(CUSTOMER_ADDRESS, { text: 'first' }))?.key.id ?? '');
  await fixture.control.write(CUSTOMER, { to: SHOP, text: 'answer' });
  await client.received('answer');
  await client.ack((await client.socket.sendMessage(CUSTOMER_ADDRESS, { text: 'between' }))?.key.id ?? '');
  await client.end();
  await fixture.forgetHandsetSessions();
  const secondClient = fixture.keep(client.again({ getMessage: async () => ({ conversation: 'second' }) }));
  await secondClient.opened();
  const sentMessage = await secondClient.socket.sendMessage(CUSTOMER_ADDRESS, { text: 'second' });
  await secondClient.until('the message', async () => {
    const { items } = await fixture.control.inbox(CUSTOMER);
    return items.some(({ text }) => text === 'second');
  });
  const { items } = await fixture.control.inbox(CUSTOMER);
  assert.deepEqual(
    items.map(({ text, duplicates }) => ({ text, duplicates })),
    ['first', 'between', 'second'].map((text) => ({ text, duplicates: 0 })),
  );
  assert.equal(items.at(-1)?.messageId, sentMessage?.key.id);
});

test('a message that is unreadable a second time is asked for again at the login after that', async (context) => {
  const fixture = await Fixture.start(context);
  await fixture.control.fault(SHOP, 'unread', 2);
  const remembers = { getMessage: async () => ({ conversation: 'twice unreadable' }) };
  const client = await fixture.link(SHOP, remembers);
  const sentMessage = await client.socket.sendMessage(CUSTOMER_ADDRESS, { text: 'twice unreadable' });
  await client.ack(sentMessage?.key.id ?? '');
  await client.end();
  const askedClient = fixture.keep(client.again(remembers));
  await askedClient.ack(sentMessage?.key.id ?? '');
  // The client's next stanza comes after its acknowledgement of the question.
  await askedClient.ack(
    (await askedClient.socket.sendMessage(CUSTOMER_ADDRESS, { text: 'readable' }))?.key.id ?? '',
  );
  await askedClient.end();
  const secondClient = fixture.keep(askedClient.again(remembers));
  await secondClient.until('the message', async () => {
    const { items } = await fixture.control.inbox(CUSTOMER);
    return items.some(({ text }) => text === 'twice unreadable');
  });
});

test('one stanza id delivered twice is one entry with a count; two ids are two entries', async (context) => {
  const { fixture, client } = await Fixture.linked(context, SHOP);
  for (const messageId of ['3EB0AAAAAAAAAAAAAAAA', '3EB0AAAAAAAAAAAAAAAA', '3EB0BBBBBBBBBBBBBBBB']) {
    client.stanzas.length = 0;
    await client.socket.sendMessage(CUSTOMER_ADDRESS, { text: 'same' }, { messageId });
    await client.ack(messageId);
  }
  const { items } = await fixture.control.inbox(CUSTOMER);
  assert.deepEqual(
    items.map(({ messageId, duplicates }) => ({ messageId, duplicates })),
    [
      { messageId: '3EB0AAAAAAAAAAAAAAAA', duplicates: 1 },
      { messageId: '3EB0BBBBBBBBBBBBBBBB', duplicates: 0 },
    ],
  );
});

test('two shops write to each other: phone and companion both get it', async (context) => {
  const fixture = await Fixture.start(context);
  const first = await fixture.link(SHOP);
  const secondClient = await fixture.link(CUSTOMER);
  const sentMessage = await first.socket.sendMessage(CUSTOMER_ADDRESS, { text: 'from shop to shop' });
  await first.ack(sentMessage?.key.id ?? '');
  const message = await secondClient.until('the text', () =>
    secondClient.messages.find(
      (candidate) => candidate.message?.extendedTextMessage?.text === 'from shop to shop',
    ),
  );
  assert.equal(message.key.id, sentMessage?.key.id);
  assert.equal((await fixture.control.inbox(CUSTOMER)).items.length, 1);
});

test('a number that is not on the network is not found, and a message to it is refused with 404', async (context) => {
  const fixture = await Fixture.start(context);
  await fixture.control.setNumber(CUSTOMER, false);
  const client = await fixture.link(SHOP);
  assert.deepEqual(await client.socket.onWhatsApp(CUSTOMER), []);
  const sentMessage = await client.socket.sendMessage(CUSTOMER_ADDRESS, { text: 'to nobody' });
  assert.equal((await client.ack(sentMessage?.key.id ?? '')).attrs.error, '404');
  await fixture.control.setNumber(CUSTOMER, true);
  assert.equal((await client.socket.onWhatsApp(CUSTOMER))?.[0]?.exists, true);
});
