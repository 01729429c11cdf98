import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { proto } from '@whiskeysockets/baileys';
import { readEnvelope } from '../../../../actors/sessions/worker-thread/wire/inbound-message.ts';
import { readContent } from '../../../../actors/sessions/worker-thread/wire/read-content.ts';

const wireIdOf = (id: string): string | undefined =>
  readEnvelope({ tag: 'message', attrs: { id, from: '111@lid', t: '1' } }, [])?.wireId;

test('a wire id as clients make them is kept as it is', () => {
  assert.equal(wireIdOf('3EB0C767D26A1D1F4B2A77'), '3EB0C767D26A1D1F4B2A77');
  assert.equal(wireIdOf('A'.repeat(64)), 'A'.repeat(64));
});

test('a longer wire id is stored by its hash, which distinguishes two of them', () => {
  const ids = [wireIdOf('A'.repeat(1_000_000)), wireIdOf(`${'A'.repeat(999_999)}B`)];
  assert.deepEqual(
    ids.map((id) => id?.length),
    [64, 64],
  );
  assert.notEqual(ids[0], ids[1]);
  assert.equal(wireIdOf('A'.repeat(1_000_000)), ids[0]);
});

test('a message from a device that a provider runs is the message of the person', () => {
  const from = (attrs: Record<string, string>) =>
    readEnvelope({ tag: 'message', attrs: { id: 'A', t: '1', ...attrs } }, ['33611111111@s.whatsapp.net']);
  const byNumber = from({ from: '33622222222:99@hosted', sender_lid: '111@lid' });
  assert.deepEqual(
    [byNumber?.sender, byNumber?.senderByNumber, byNumber?.lid],
    ['33622222222:99@s.whatsapp.net', '33622222222:99@s.whatsapp.net', '111@lid'],
  );
  const byLid = from({ from: '111:99@hosted.lid', sender_pn: '33622222222@s.whatsapp.net' });
  assert.deepEqual(
    [byLid?.sender, byLid?.senderByNumber, byLid?.lid],
    ['111:99@lid', '33622222222@s.whatsapp.net', '111@lid'],
  );
  assert.equal(from({ from: '33611111111:99@hosted' }), undefined, 'one of the shop’s own');
});

test('a STOP is read from every kind of answer whose text the feed shows', () => {
  const answers: proto.IMessage[] = [
    { conversation: 'STOP' },
    { extendedTextMessage: { text: 'STOP' } },
    { buttonsResponseMessage: { selectedDisplayText: 'STOP' } },
    { templateButtonReplyMessage: { selectedDisplayText: 'STOP' } },
    { interactiveResponseMessage: { body: { text: 'STOP' } } },
    { listResponseMessage: { title: 'STOP' } },
    { imageMessage: { caption: 'STOP' } },
    { ptvMessage: { caption: 'STOP' } },
    { ephemeralMessage: { message: { documentMessage: { caption: 'STOP' } } } },
  ];
  for (const answer of answers) {
    const { text, content } = readContent(answer);
    assert.deepEqual([text, content?.text], ['STOP', 'STOP']);
  }
});
