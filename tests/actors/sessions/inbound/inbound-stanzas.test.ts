import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import type { BinaryNode, WASocket } from '@whiskeysockets/baileys';
import { InboundStanzas } from '../../../../actors/sessions/worker-thread/inbound/inbound-stanzas.ts';
import { FakeClock } from '../../../runtime/fake-clock.ts';

const GROUP = '120363000000000001@g.us';
const PERSON = '33622222222@s.whatsapp.net';

/** The acknowledgements that follow a message which the client tried to read with that outcome. */
async function acksAfter(
  message: BinaryNode,
  outcome: 'read' | 'failed' | undefined,
): Promise<(string | undefined)[]> {
  const clock = new FakeClock();
  const ws = Object.assign(new EventEmitter(), { isOpen: true });
  const acks: (string | undefined)[] = [];
  let passedOn = 0;
  ws.on('CB:message', async () => {
    passedOn += 1;
  });
  const socket = {
    ws,
    user: { id: '33611111111:2@s.whatsapp.net' },
    sendNode: async ({ attrs }: BinaryNode) => void acks.push(attrs.id),
  } as unknown as WASocket;
  new InboundStanzas({
    socket,
    ratchets: {
      outcomeOf: () => outcome,
      arriving: () => undefined,
      makeSignalRepository: () => assert.fail('no client is made'),
    },
    later: (delayMs, act) => clock.after(delayMs, act),
    environment: { post: () => undefined },
    shop: { shopId: 'shop' },
    opening: { generation: 1 },
  });
  ws.emit('CB:message', message);
  await clock.advance(1);
  assert.equal(passedOn, 1);
  return acks;
}

const sealed = (attrs: Record<string, string>): BinaryNode => ({
  tag: 'message',
  attrs: { id: 'A', ...attrs },
  content: [{ tag: 'enc', attrs: { type: 'msg' }, content: new Uint8Array(1) }],
});

test('a message is acknowledged once: here if it was read, else by the client', async () => {
  const message = sealed({ from: PERSON });
  assert.deepEqual(await acksAfter(message, 'read'), ['A']);
  assert.deepEqual(await acksAfter(message, 'failed'), []);
  assert.deepEqual(await acksAfter(sealed({ from: PERSON, category: 'peer' }), 'failed'), ['A']);
});

test('a malformed message, which the client refuses before it opens the ciphertext, gets no second answer', async () => {
  assert.deepEqual(await acksAfter(sealed({ from: GROUP }), undefined), []);
});
