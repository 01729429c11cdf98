/** A device that could not read a message asks for it again. Only that device gets it, at the rate of its chat. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BinaryNode, getBinaryNodeChild } from '@whiskeysockets/baileys';
import { SentMessages } from '../../../../actors/sessions/worker-thread/sending/sent-messages.ts';
import { DAY_MS } from '../../../../runtime/durations.ts';
import { sealedStore } from '../store/sealed-store-fixture.ts';
import { ONCE_MORE, PERSON, PERSONS_LID, retryAnswers } from './shop-with-retries.ts';

const GROUP = '120363000000000777@g.us';
const member = (index: number): string => `${200_000_000_000_000 + index}:${1 + (index % 3)}@lid`;

test('an answer to a retry that fails is tried again before the receipt is acknowledged', async () => {
  const { clock, logged, asked, sent } = retryAnswers({ failures: 2 });
  asked();
  await clock.advance(1_000);
  assert.deepEqual(sent(), [], 'an acknowledged receipt does not come again');
  await clock.advance(60_000);
  assert.deepEqual(sent(), ['message', 'ack']);
  assert.deepEqual(logged, []);
});

test('a receipt whose answer fails every time is acknowledged within a minute, and that is logged', async () => {
  const { clock, logged, asked, sent } = retryAnswers({ failures: 1_000 });
  asked();
  await clock.advance(60_000);
  assert.deepEqual(sent(), ['ack']);
  assert.deepEqual(logged, [
    '{"wireId":"A","error":"Error","cause":""} a device that could not read a message was not answered',
  ]);
});

test('a status is sent again to its viewers who ask, and to no one else', async () => {
  const from = 'status@broadcast';
  const audience = ['100000000000001@lid', '100000000000002@lid'];
  const { clock, asked, sent } = retryAnswers({
    sent: { find: async () => ({ ...ONCE_MORE, chat: from, audience }) },
  });
  asked({ from, participant: '100000000000003:4@lid' });
  await clock.advance(1_000);
  assert.deepEqual(sent(), ['ack']);
  asked({ from, participant: '100000000000002:7@lid' });
  await clock.advance(1_000);
  assert.deepEqual(sent(), ['ack', 'message', 'ack']);
});

test('a status is sent again after one look-up at most, however large its audience is', async () => {
  const from = 'status@broadcast';
  const audience = Array.from({ length: 1_000 }, (_, index) => `${100_000_000_000_000 + index}@lid`);
  const { clock, asked, sent, lookUps } = retryAnswers({
    sent: { find: async () => ({ ...ONCE_MORE, chat: from, audience }) },
  });
  asked({ from, participant: '100000000000002:7@lid' });
  await clock.advance(1_000);
  assert.equal(lookUps(), 0);
  asked({ from, participant: PERSON });
  await clock.advance(1_000);
  assert.deepEqual(sent(), ['message', 'ack', 'message', 'ack']);
  assert.equal(lookUps(), 1);
});

test('the devices of one person share the answers that go out at once, by number and by LID', async () => {
  const { clock, asked, sent } = retryAnswers();
  const devices = [PERSON, '33622222222:3@s.whatsapp.net', `${PERSONS_LID}@lid`, `${PERSONS_LID}:3@lid`];
  for (let id = 0; id < 7; id += 1) for (const from of devices) asked({ from }, `A${id}`);
  await clock.advance(500);
  assert.equal(sent().filter((tag) => tag === 'message').length, 20);
  await clock.advance(60_000);
  assert.equal(sent().filter((tag) => tag === 'message').length, 7 * devices.length);
});

test('a device that asks a week and a thousand messages later gets the message, in one stanza for it alone', async () => {
  const { sealed, open, clock } = sealedStore();
  const messagesBefore = new SentMessages(sealed, clock);
  await messagesBefore.remember('3EB0A', { chat: PERSON, message: { conversation: 'the oldest' } });
  await messagesBefore.remember('3EB0B', { chat: GROUP, message: { conversation: 'the oldest post' } });
  for (let index = 0; index < 1_000; index += 1)
    await messagesBefore.remember(`3EB0${index}`, { chat: PERSON, message: { conversation: `${index}` } });
  await clock.advance(7 * DAY_MS);
  const { asked, stanzas } = retryAnswers({ sent: new SentMessages(open(), clock), clock });
  const from = '33622222222:3@s.whatsapp.net';
  asked({ from }, '3EB0A');
  asked({ from: GROUP, participant: member(1) }, '3EB0B');
  await clock.until(() => stanzas.length === 4);
  await clock.advance(60_000);
  const answered = stanzas.map(({ tag, attrs: { id, to, participant, device_fanout } }) => ({
    tag,
    id,
    to,
    participant,
    device_fanout,
  }));
  const own = { participant: undefined, device_fanout: 'false' };
  const ofGroup = { participant: member(1), device_fanout: undefined };
  const acknowledged = { device_fanout: undefined };
  assert.deepEqual(
    answered.sort((one, other) => `${one.tag} ${one.id}`.localeCompare(`${other.tag} ${other.id}`)),
    [
      { tag: 'ack', id: '3EB0A', to: from, ...own, ...acknowledged },
      { tag: 'ack', id: '3EB0B', to: GROUP, ...ofGroup },
      { tag: 'message', id: '3EB0A', to: from, ...own },
      { tag: 'message', id: '3EB0B', to: GROUP, ...ofGroup },
    ],
  );
  assert.ok(sealedIn(stanzas, '3EB0A').includes('the oldest'));
  assert.ok(sealedIn(stanzas, '3EB0B').includes('the oldest post'));
});

test('25 members of a group ask for a post at once: 20 are answered at once, and one more each second', async () => {
  const { clock, asked, stanzas } = retryAnswers({
    sent: { find: async () => ({ ...ONCE_MORE, chat: GROUP }) },
  });
  const members = Array.from({ length: 25 }, (_, index) => member(index));
  for (const participant of members) asked({ from: GROUP, participant });
  const answered = () => stanzas.filter(({ tag }) => tag === 'message').map(({ attrs }) => attrs.participant);
  await clock.advance(999);
  assert.deepEqual(answered(), members.slice(0, 20));
  for (const count of [21, 22, 23, 24, 25]) {
    await clock.advance(1_000);
    assert.deepEqual(answered(), members.slice(0, count));
  }
});

test('members beyond the 600 who wait get no stanza, and the key of the group with the next post', async () => {
  const { clock, keys, asked, stanzas } = retryAnswers({
    sent: { find: async () => ({ ...ONCE_MORE, chat: GROUP }) },
  });
  const members = Array.from({ length: 622 }, (_, index) => member(index));
  const [last = '', beyond = ''] = members.slice(620);
  await keys.set({
    'sender-key-memory': { [GROUP]: Object.fromEntries(members.map((each) => [each, true])) },
  });
  for (const participant of members.slice(0, 621)) asked({ from: GROUP, participant });
  await clock.advance(500);
  const known = async () => (await keys.get('sender-key-memory', [GROUP]))[GROUP] ?? {};
  assert.equal(last in (await known()), false);
  assert.equal(beyond in (await known()), true);
  assert.equal(Object.keys(await known()).length, 621);
  await clock.advance(600_000);
  const valuesOf = (tag: string) =>
    stanzas.filter((node) => node.tag === tag).map(({ attrs }) => attrs.participant);
  assert.deepEqual(valuesOf('message'), members.slice(0, 620));
  assert.deepEqual(valuesOf('ack').sort(), members.slice(0, 621).sort());
});

// Shape: vinikjkkj/zapo, src/retry/__tests__/retry.test.ts (`retry receipt parser validates and decodes built retry
// nodes`).
test('a retry receipt whose own id is another is about the message that its `retry` names', async () => {
  const named: string[] = [];
  const { clock, asked, stanzas } = retryAnswers({
    sent: {
      find: async (wireId) => {
        named.push(wireId);
        return ONCE_MORE;
      },
    },
  });
  asked({ from: PERSON }, 'the receipt', { messageId: 'the message' });
  await clock.advance(1_000);
  assert.deepEqual(named, ['the message']);
  assert.deepEqual(
    stanzas.map(({ tag, attrs: { id } }) => [tag, id]),
    [
      ['message', 'the message'],
      ['ack', 'the receipt'],
    ],
  );
});

// Shape: oxidezap/whatsapp-rust, wacore/src/protocol/retry.rs (`extract_registration_id_3_bytes`,
// `…_rejects_oversized`).
test('a registration id without its leading zeros is the same id: no new session is opened', async () => {
  const ask = async (bytes: readonly number[]): Promise<readonly string[]> => {
    const { clock, asked, opened, sent } = retryAnswers();
    const registration = { tag: 'registration', attrs: {}, content: Uint8Array.from(bytes) };
    asked({ from: PERSON }, 'A', { content: [registration] });
    await clock.advance(1_000);
    assert.deepEqual(sent(), ['message', 'ack']);
    return opened;
  };
  assert.deepEqual(await ask([1, 2, 3]), []);
  assert.deepEqual(await ask([0, 1, 2, 3]), []);
  assert.deepEqual(await ask([9, 0, 1, 2, 3]), [], 'it is no id');
  assert.deepEqual(await ask([]), []);
  assert.deepEqual(await ask([1, 2, 4]), [PERSON], 'the device was installed again');
});

// Shape: the addresses in oxidezap/whatsapp-rust, wacore/src/protocol/retry.rs
// (`stateless_early_inclusion_covers_only_hosted_destinations`).
test('a device that a provider runs gets the message again', async () => {
  for (const from of ['33622222222:99@hosted', `${PERSONS_LID}:99@hosted.lid`]) {
    const { clock, asked, stanzas } = retryAnswers();
    asked({ from });
    await clock.advance(1_000);
    assert.deepEqual(
      stanzas.map(({ tag, attrs: { to } }) => [tag, to]),
      [
        ['message', from],
        ['ack', from],
      ],
    );
  }
});

/** Returns the content that a message stanza has for its device. The fixture does not encrypt it. */
function sealedIn(stanzas: readonly BinaryNode[], wireId: string): string {
  const message = stanzas.find(({ tag, attrs }) => tag === 'message' && attrs.id === wireId);
  return Buffer.from(getBinaryNodeChild(message, 'enc')?.content as Uint8Array).toString();
}
