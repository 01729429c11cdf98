import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BinaryNode, initAuthCreds } from '@whiskeysockets/baileys';
import { DEFAULT_SESSION_TIMING } from '../../actors/sessions/session-timing.ts';
import {
  RetryAnswers,
  type RetryAnswersOptions,
} from '../../actors/sessions/worker-thread/retries/retry-answers.ts';
import type { SentMessage } from '../../actors/sessions/worker-thread/sending/sent-messages.ts';
import { ExpiringCache } from '../../actors/sessions/worker-thread/session/expiring-cache.ts';
import { FakeClock } from '../runtime/fake-clock.ts';

const PERSON = '33622222222@s.whatsapp.net';
const PERSONS_LID = '100000000000002';
const ACCOUNT = {
  details: new Uint8Array(1),
  accountSignatureKey: new Uint8Array(32),
  accountSignature: new Uint8Array(64),
  deviceSignature: new Uint8Array(64),
};

const ONCE_MORE: SentMessage = { chat: PERSON, message: { conversation: 'once more' } };

/** Answers on a clock of their own, the first `failures` of which fail, with the stanzas that they send. */
function answersThatFail(failures: number, found = ONCE_MORE) {
  const clock = new FakeClock();
  const stanzas: BinaryNode[] = [];
  const logged: string[] = [];
  let left = failures;
  let lookUps = 0;
  const lookedUp = <Answer>(answer: Answer): Answer => {
    lookUps += 1;
    return answer;
  };
  const socket = {
    user: { id: '33611111111:2@s.whatsapp.net' },
    sendNode: async (stanza: BinaryNode) => void stanzas.push(stanza),
    signalRepository: {
      lidMapping: {
        getPNForLID: async (lid: string) => lookedUp(lid.startsWith(`${PERSONS_LID}@`) ? PERSON : null),
        getLIDForPN: async (number: string) => lookedUp(number === PERSON ? `${PERSONS_LID}:0@lid` : null),
      },
      getSessionInfo: async () => {
        left -= 1;
        if (left >= 0) throw new Error('the network sent no keys in time');
        return { baseKey: new Uint8Array(1), registrationId: 1 };
      },
      hasSenderKey: async () => false,
      encryptMessage: async () => ({ type: 'msg', ciphertext: new Uint8Array(3) }),
    },
  };
  const answers = new RetryAnswers({
    socket: socket as unknown as RetryAnswersOptions['socket'],
    credentials: {
      creds: { ...initAuthCreds(), account: ACCOUNT },
      keys: { get: async () => ({}), set: async () => undefined },
    },
    sent: { find: async () => found },
    groups: { excludes: () => false, metadata: () => undefined },
    sessions: { open: async () => [] },
    outbox: { alone: (work) => work(), isPending: () => false },
    memory: {
      retries: new ExpiringCache({ lifeMs: 3_600_000, maxEntries: 100, nowMs: () => clock.monotonicMs() }),
    },
    environment: { clock, timing: DEFAULT_SESSION_TIMING },
    later: (delayMs, act) => void clock.after(delayMs, act),
    ownAddresses: () => [],
    log: (_, message) => void logged.push(message),
  });
  const asked = (
    by: { readonly from: string; readonly participant?: string } = { from: PERSON },
    id = 'A',
  ): void =>
    void answers.onReceipt({
      tag: 'receipt',
      attrs: { id, type: 'retry', ...by },
      content: [{ tag: 'retry', attrs: { count: '1' } }],
    });
  const sent = (): string[] => stanzas.map(({ tag }) => tag);
  return { clock, logged, asked, sent, lookUps: () => lookUps };
}

test('an answer to a retry that fails is tried again before the receipt is acknowledged', async () => {
  const { clock, logged, asked, sent } = answersThatFail(2);
  asked();
  await clock.advance(1_000);
  assert.deepEqual(sent(), [], 'an acknowledged receipt does not come again');
  await clock.advance(60_000);
  assert.deepEqual(sent(), ['message', 'ack']);
  assert.deepEqual(logged, []);
});

test('a receipt whose answer fails every time is acknowledged within a minute, and that is logged', async () => {
  const { clock, logged, asked, sent } = answersThatFail(1_000);
  asked();
  await clock.advance(60_000);
  assert.deepEqual(sent(), ['ack']);
  assert.equal(logged.length, 1);
});

test('a status is sent again to its viewers who ask, and to no one else', async () => {
  const from = 'status@broadcast';
  const audience = ['100000000000001@lid', '100000000000002@lid'];
  const { clock, asked, sent } = answersThatFail(0, { ...ONCE_MORE, chat: from, audience });
  asked({ from, participant: '100000000000003:4@lid' });
  await clock.advance(1_000);
  assert.deepEqual(sent(), ['ack']);
  asked({ from, participant: '100000000000002:7@lid' });
  await clock.advance(1_000);
  assert.deepEqual(sent(), ['ack', 'message', 'ack']);
});

test('a status is told again after one look-up at most, however many it was for', async () => {
  const from = 'status@broadcast';
  const audience = Array.from({ length: 1_000 }, (_, index) => `${100_000_000_000_000 + index}@lid`);
  const { clock, asked, sent, lookUps } = answersThatFail(0, { ...ONCE_MORE, chat: from, audience });
  asked({ from, participant: '100000000000002:7@lid' });
  await clock.advance(1_000);
  assert.equal(lookUps(), 0);
  asked({ from, participant: PERSON });
  await clock.advance(1_000);
  assert.deepEqual(sent(), ['message', 'ack', 'message', 'ack']);
  assert.equal(lookUps(), 1);
});

test('the devices of one person share the answers that go out at once, by number and by LID', async () => {
  const { clock, asked, sent } = answersThatFail(0);
  const devices = [PERSON, '33622222222:3@s.whatsapp.net', `${PERSONS_LID}@lid`, `${PERSONS_LID}:3@lid`];
  for (let id = 0; id < 7; id += 1) for (const from of devices) asked({ from }, `A${id}`);
  await clock.advance(500);
  assert.equal(sent().filter((tag) => tag === 'message').length, 20);
  await clock.advance(60_000);
  assert.equal(sent().filter((tag) => tag === 'message').length, 7 * devices.length);
});
