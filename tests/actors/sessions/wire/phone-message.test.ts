/** The shop's own phone reports messages that came without a ciphertext or could not be read. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { proto } from '@whiskeysockets/baileys';
import { readPhoneMessage } from '../../../../actors/sessions/worker-thread/wire/phone-message.ts';
import { readContent } from '../../../../actors/sessions/worker-thread/wire/read-content.ts';
import { MINUTE_MS } from '../../../../runtime/durations.ts';
import { until } from '../../../testbed/waiting.ts';
import { SHOP_PHONE } from '../conformance-network.ts';
import { pairedShop } from '../paired-shop.ts';

const PERSON = '+33622222222';
const OWN = '33611111111@s.whatsapp.net';

test('a STOP in a message without a ciphertext comes from the phone, under its own id, and is answered once it is committed', async (context) => {
  const events: string[] = [];
  const simulation = {
    phoneAnswerMs: 20_000,
    log: ({ event }: { event: string }) => void events.push(event),
  };
  const { shop, control, host, log } = await pairedShop(
    context,
    { timing: { confirmMs: MINUTE_MS } },
    simulation,
  );
  const written = await control.write(PERSON, {
    to: SHOP_PHONE,
    text: 'STOP',
    unavailable: true,
    wait: false,
  });
  await until('the phone was asked', async () => events.includes('phone asked'));
  await control.forward(20_000);
  const heard = await log.next(shop, 'session.inbound');
  assert.deepEqual([heard.text, heard.from, heard.wireId], ['STOP', PERSON, written.id]);
  assert.equal((await control.unanswered(SHOP_PHONE)).waiting.length, 1, 'it waits for the commit');
  host.order(shop, { type: 'confirm', token: heard.token });
  await until('it is answered', async () => {
    const { waiting, unacknowledged } = await control.unanswered(SHOP_PHONE);
    return waiting.length === 0 && unacknowledged.length === 0;
  });
});

const answer = (
  key: proto.IMessageKey,
  message: proto.IMessage = { conversation: 'STOP' },
): proto.IMessage => ({
  protocolMessage: {
    peerDataOperationRequestResponseMessage: {
      peerDataOperationResult: [
        {
          placeholderMessageResendResponse: {
            webMessageInfoBytes: proto.WebMessageInfo.encode({ key, message, messageTimestamp: 7 }).finish(),
          },
        },
      ],
    },
  },
});

/** Returns texts and senders in an answer that comes from an address. */
function told(from: string, message: proto.IMessage): unknown[] {
  const stanza = { tag: 'message', attrs: { from, id: 'A', category: 'peer' } };
  const otherAddress = (wireId: string) => (wireId === 'W1' ? '33622222222@s.whatsapp.net' : undefined);
  const read = readPhoneMessage(stanza, message, { own: [OWN, '123@lid'], otherAddress });
  return (read?.copies ?? []).flatMap(({ envelope, message: writtenMessage }) => {
    const { wireId, sender, senderByNumber, atMs } = envelope;
    const { text } = readContent(writtenMessage);
    return text === undefined ? [] : [[wireId, sender, senderByNumber, atMs, text]];
  });
}

test('the sender has the number that the stanza named, if the phone names only the network’s own id', () => {
  const key = { id: 'W1', remoteJid: '999@lid', fromMe: false };
  const expected = [['W1', '999@lid', '33622222222@s.whatsapp.net', 7_000, 'STOP']];
  assert.deepEqual(told(OWN, answer(key)), expected);
  assert.deepEqual(told('123@lid', answer(key)), expected);
});

test('only the shop’s phone can report its messages, and of groups and own messages nothing is taken', () => {
  const key = { id: 'W1', remoteJid: '999@lid', fromMe: false };
  assert.deepEqual(told('33622222222@s.whatsapp.net', answer(key)), []);
  assert.deepEqual(told('33611111111:2@s.whatsapp.net', answer(key)), [], 'another linked device');
  assert.deepEqual(told(OWN, answer({ ...key, fromMe: true })), []);
  assert.deepEqual(told(OWN, answer({ ...key, remoteJid: '120363000000000001@g.us' })), []);
  assert.deepEqual(told(OWN, answer(key, { reactionMessage: {} })), []);
});
