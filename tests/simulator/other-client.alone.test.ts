/** zapo-js, an independent client, links to the simulator and does the work of a session. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { SimulatorOptions } from '../../simulator/simulator.ts';
import { ABOUT_KINDS, WRITTEN_KINDS } from '../../simulator/to-clients/written-kinds.ts';
import { Fixture } from './fixture.ts';
import { OtherClient } from './other-client.ts';

const SHOP = '+33611111111';
const CUSTOMER = '+33622222222';
const CUSTOMER_ADDRESS = '33622222222@s.whatsapp.net';
const GROUP = '120363000000000001@g.us';

async function linked(
  context: TestContext,
  options: Partial<SimulatorOptions> = {},
): Promise<{ fixture: Fixture; other: OtherClient }> {
  const fixture = await Fixture.start(context, { ...options, lidsNeedNumber: false });
  const otherClient = new OtherClient(fixture.simulator);
  context.after(() => otherClient.client.disconnect());
  await otherClient.link((qr) => fixture.control.scan(qr, SHOP));
  return { fixture, other: otherClient };
}

/** The address that the network gives for a number. */
async function lidOf(otherClient: OtherClient, phone: string): Promise<string> {
  const [found] = await otherClient.client.getLidsByPhoneNumbers([phone]);
  assert.match(found?.lidJid ?? '', /^\d{15}@lid$/);
  return found?.lidJid ?? '';
}

const textsOf = async (fixture: Fixture, phone: string): Promise<(string | null)[]> =>
  (await fixture.control.inbox(phone)).items.map(({ text }) => text);

test('another client links by QR code, writes to a number, and reads the answer from it', async (context) => {
  const { fixture, other } = await linked(context);
  const sent = await other.client.sendMessage(CUSTOMER_ADDRESS, 'Bonjour');
  assert.equal(sent.ack.error, undefined);
  assert.equal(sent.attempts, 1);
  assert.deepEqual(await textsOf(fixture, CUSTOMER), ['Bonjour']);
  const answer = await fixture.control.write(CUSTOMER, { to: SHOP, text: 'Salut', addressing: 'pn' });
  assert.equal(answer.delivered, true);
  await other.reads('Salut');
  assert.deepEqual(other.problems, []);
});

test('another client writes to a person at their LID, and reads the answer from it', async (context) => {
  const { fixture, other } = await linked(context);
  const sent = await other.client.sendMessage(await lidOf(other, CUSTOMER), 'To the LID');
  assert.equal(sent.ack.error, undefined);
  assert.deepEqual(await textsOf(fixture, CUSTOMER), ['To the LID']);
  await fixture.control.write(CUSTOMER, { to: SHOP, text: 'From the LID', addressing: 'lid' });
  await other.reads('From the LID');
  assert.deepEqual(other.problems, []);
});

test('another client writes to a LID group and reads what a member writes there', async (context) => {
  const { fixture, other } = await linked(context);
  await fixture.control.setGroup(GROUP, {
    name: 'Customers',
    participants: [SHOP, CUSTOMER],
    admins: [SHOP],
    addressingMode: 'lid',
  });
  for (const text of ['first', 'second']) {
    const sent = await other.client.sendMessage(GROUP, text);
    assert.equal(sent.ack.error, undefined);
  }
  assert.deepEqual(await textsOf(fixture, CUSTOMER), ['first', 'second']);
  await fixture.control.write(CUSTOMER, { to: GROUP, text: 'hello all' });
  // This client first looks for the member's session under their number, and asks for a retry when there is none.
  await other.reads('hello all');
});

test('another client seals a message again for a phone that could not read it', async (context) => {
  const { fixture, other } = await linked(context);
  await fixture.control.fault(SHOP, 'unread', 1);
  await other.client.sendMessage(await lidOf(other, CUSTOMER), 'Once more');
  await other.client.disconnect();
  const secondClient = other.again();
  context.after(() => secondClient.client.disconnect());
  const sealedAgain = secondClient.sends('message');
  await secondClient.open();
  await sealedAgain;
  // The simulator handles stanzas in order, so an answer to a later one proves that the second copy arrived.
  await lidOf(secondClient, CUSTOMER);
  assert.deepEqual(await textsOf(fixture, CUSTOMER), ['Once more']);
});

test('another client resumes its login with the key it kept, and reads what waited', async (context) => {
  const events: string[] = [];
  const { fixture, other } = await linked(context, { log: ({ event }) => events.push(event) });
  await other.client.sendMessage(await lidOf(other, CUSTOMER), 'Bonjour');
  await other.client.disconnect();
  for (const text of ['one', 'two', 'three'])
    await fixture.control.write(CUSTOMER, { to: SHOP, text, wait: false });
  const secondClient = other.again();
  context.after(() => secondClient.client.disconnect());
  await secondClient.open();
  await secondClient.reads('three');
  assert.deepEqual(secondClient.texts, ['one', 'two', 'three']);
  assert.deepEqual(secondClient.problems, []);
  assert.equal(events.includes('connection failed'), false);
});

test('another client reads every message that a contact writes', async (context) => {
  const { fixture, other } = await linked(context);
  const kinds = WRITTEN_KINDS.filter((kind) => !ABOUT_KINDS.has(kind));
  const { id: messageId } = await fixture.control.write(CUSTOMER, { to: SHOP, text: 'First' });
  for (const kind of kinds) await fixture.control.write(CUSTOMER, { to: SHOP, kind, text: 'Words' });
  for (const kind of ['reaction', 'vote'] as const)
    await fixture.control.write(CUSTOMER, { to: SHOP, kind, text: 'x', about: messageId });
  await fixture.control.write(CUSTOMER, { to: SHOP, text: 'Last', about: messageId });
  await other.reads('Last');
  const fields = other.fields.filter((field) => !/conversation|extendedText|protocol/.test(field));
  assert.deepEqual(fields.slice(0, kinds.length - 1), [
    'imageMessage',
    'videoMessage',
    'ptvMessage',
    'documentWithCaptionMessage',
    'audioMessage',
    'audioMessage',
    'locationMessage',
    'liveLocationMessage',
    'contactMessage',
    'contactsArrayMessage',
    'stickerMessage',
    'pollCreationMessageV3',
    'albumMessage',
  ]);
  assert.equal(other.quotes.get('Last'), messageId);
  assert.deepEqual(other.problems, []);
});
