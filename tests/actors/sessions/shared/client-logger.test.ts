import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BinaryNode, initAuthCreds, makeWASocket } from '@whiskeysockets/baileys';
import { clientLogger } from '../../../../actors/sessions/worker-thread/shared/silent-logger.ts';

const MESSAGE: BinaryNode = {
  tag: 'message',
  attrs: { id: 'A', from: '33622222222@s.whatsapp.net', sender_lid: '9911@lid', type: 'text', t: '1' },
  content: [{ tag: 'enc', attrs: { type: 'msg', v: '2' }, content: new Uint8Array(1) }],
};

test('the error on which the client refuses a message is passed on, and nothing else that it logs', async () => {
  const refused: unknown[] = [];
  const failure = new TypeError('a store that fails');
  const socket = makeWASocket({
    // No server listens there; the client handles the stanza all the same.
    waWebSocketUrl: 'ws://127.0.0.1:9',
    auth: {
      creds: { ...initAuthCreds(), me: { id: '33611111111:2@s.whatsapp.net', lid: '8811:2@lid' } },
      keys: { get: () => Promise.reject(failure), set: async () => undefined },
    },
    logger: clientLogger((error) => refused.push(error)),
    connectTimeoutMs: 0,
  });
  const listeners = socket.ws.listeners('CB:message') as ((message: BinaryNode) => unknown)[];
  for (const listener of listeners) await listener(MESSAGE);
  await socket.end(undefined);
  assert.equal(refused.length, 1);
  assert.equal(refused[0], failure);
});
