import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import type { BinaryNode, WASocket } from '@whiskeysockets/baileys';
import { InboundStanzas } from '../../../../actors/sessions/worker-thread/inbound/inbound-stanzas.ts';
import type { SessionContext } from '../../../../actors/sessions/worker-thread/shared/session-context.ts';
import { FakeClock } from '../../../testbed/fake-clock.ts';
import { fakeOf } from '../../../testbed/fake-of.ts';

const GROUP = '120363000000000001@g.us';
const PERSON = '33622222222@s.whatsapp.net';

/** Passes a message to a client that reports this outcome or throws. Returns the acknowledgements and log lines. */
async function passed(
  message: BinaryNode,
  { outcome, failure }: { readonly outcome?: 'read' | 'failed' | undefined; readonly failure?: unknown },
): Promise<{ readonly acks: (string | undefined)[]; readonly logged: object[] }> {
  const clock = new FakeClock();
  const ws = Object.assign(new EventEmitter(), { isOpen: true });
  const acks: (string | undefined)[] = [];
  const logged: object[] = [];
  let passedOn = 0;
  ws.on('CB:message', async () => {
    passedOn += 1;
    if (failure !== undefined) throw failure;
  });
  const socket = {
    ws,
    user: { id: '33611111111:2@s.whatsapp.net' },
    sendNode: async ({ attrs }: BinaryNode) => void acks.push(attrs.id),
  } as unknown as WASocket;
  const context = fakeOf<SessionContext>({
    later: (delayMs, act) => clock.after(delayMs, act),
    note: () => undefined,
    log: (fields, text) => void logged.push({ ...fields, text }),
  });
  new InboundStanzas(context, socket, {
    outcomeOf: () => outcome,
    arriving: () => undefined,
    makeSignalRepository: () => assert.fail('no client is made'),
  });
  ws.emit('CB:message', message);
  await clock.advance(1);
  assert.equal(passedOn, 1);
  return { acks, logged };
}

/** Returns the acknowledgements of a message for which the client reported this outcome. */
async function acksAfter(
  message: BinaryNode,
  outcome: 'read' | 'failed' | undefined,
): Promise<(string | undefined)[]> {
  return (await passed(message, { outcome })).acks;
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

test('a message on which a listener fails is logged by class, error and code, without its text, and is not acknowledged', async () => {
  const failure = Object.assign(new TypeError('hello is not iterable'), { code: 'ERR_BROKEN' });
  const { acks, logged } = await passed(sealed({ from: PERSON, type: 'text' }), { failure });
  const [{ stack: _, ...line }] = logged as [{ readonly stack?: string }];
  assert.deepEqual(acks, []);
  assert.deepEqual(line, {
    wireId: 'A',
    stanzaClass: 'message',
    stanzaType: 'text',
    error: 'TypeError',
    cause: '',
    code: 'ERR_BROKEN',
    text: 'a message could not be handled, and comes again',
  });
});

test('a message that fails because the socket closes is not logged', async () => {
  const closed = Object.assign(new Error('Connection Closed'), { output: { statusCode: 428 } });
  const reset = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
  for (const failure of [closed, reset, 1006, new Error('WebSocket is not open: readyState 2 (CLOSING)')])
    assert.deepEqual(await passed(sealed({ from: PERSON }), { failure }), { acks: [], logged: [] });
});
