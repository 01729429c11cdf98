/** Devices whose keys the network does not give for a moment. The other people of a group still get each message. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BinaryNode, getBinaryNodeChildren, type WASocket } from '@whiskeysockets/baileys';
import {
  DeviceSessions,
  isKeyless,
} from '../../../../actors/sessions/worker-thread/sending/device-sessions.ts';
import type { SessionContext } from '../../../../actors/sessions/worker-thread/shared/session-context.ts';
import { newShopMemory } from '../../../../actors/sessions/worker-thread/shared/session-environment.ts';
import { userOf } from '../../../../actors/sessions/worker-thread/wire/chat-address.ts';
import { FakeClock } from '../../../testbed/fake-clock.ts';
import { fakeOf } from '../../../testbed/fake-of.ts';
import { withKeys } from './device-keys.ts';

const READER = '100@lid';
const LEFT_OUT = '200@lid';
const ALSO_LEFT_OUT = '300@lid';
const RATE_LIMIT = Object.assign(new Error('rate-overlimit'), { data: 429 });

const refused = ({ attrs }: BinaryNode, code: string): BinaryNode => {
  return { tag: 'user', attrs, content: [{ tag: 'error', attrs: { code } }] };
};

const busy = (user: BinaryNode): BinaryNode => refused(user, '503');

function answer(rows: BinaryNode[]): BinaryNode {
  return { tag: 'iq', attrs: {}, content: [{ tag: 'list', attrs: {}, content: rows }] };
}

/**
 * Returns device sessions whose first message reached the reader, and left the others out. The network then answers a
 * question about devices as `next` says.
 */
async function afterFirstMessage(
  next: (users: BinaryNode[]) => BinaryNode | undefined,
  leftOut: readonly string[] = [LEFT_OUT],
) {
  const memory = newShopMemory(new FakeClock());
  memory.devices.set('900', []);
  for (const address of [READER, ...leftOut])
    memory.devices.set(userOf(address), [{ user: userOf(address), server: 'lid', device: 0 }]);
  const asked: string[] = [];
  const logged: string[] = [];
  const withSession = new Set([READER]);
  let isFirst = true;
  const socket = {
    user: { id: '33600000001:2@s.whatsapp.net', lid: '900:2@lid' },
    signalRepository: {
      // Like the client's, it reports a session for a device that is left out (`ratchets.ts`).
      validateSession: async (address: string) => {
        return { exists: isKeyless(memory.keyless, address) || withSession.has(address) };
      },
      getSessionInfo: async (address: string) => (withSession.has(address) ? {} : null),
      injectE2ESession: async ({ jid }: { readonly jid: string }) => void withSession.add(jid),
    },
    getUSyncDevices: async (people: readonly string[]) =>
      people.filter((jid) => jid !== '900@lid' && !isKeyless(memory.keyless, jid)).map((jid) => ({ jid })),
    async query({ content }: BinaryNode) {
      const users = getBinaryNodeChildren((content as BinaryNode[])[0], 'user');
      asked.push(...users.map(({ attrs }) => attrs.jid ?? ''));
      if (!isFirst) return next(users);
      isFirst = false;
      return answer(users.map(busy));
    },
  };
  const context = fakeOf<SessionContext>({ memory, logFailure: (text) => () => void logged.push(text) });
  const sessions = new DeviceSessions(context, socket as unknown as WASocket);
  assert.equal(await sessions.reach([READER, ...leftOut]), true);
  assert.deepEqual(asked.splice(0), leftOut);
  return { sessions, memory, asked, logged, withSession };
}

const refuse = (): never => {
  throw RATE_LIMIT;
};

test('a post reaches the others if the question about a left-out device gets no reply', async () => {
  const { sessions, asked, logged } = await afterFirstMessage(() => undefined);
  assert.equal(await sessions.reach([READER, LEFT_OUT]), true);
  assert.deepEqual([asked, logged.length], [[LEFT_OUT], 1]);
});

test('a rate signal to the question about a left-out device is not hidden, so that the queue pauses', async () => {
  const { sessions, asked, logged } = await afterFirstMessage(refuse);
  await assert.rejects(sessions.reach([READER, LEFT_OUT]), RATE_LIMIT);
  assert.deepEqual([asked, logged], [[LEFT_OUT], []]);
});

for (const { failure, next } of [
  { failure: 'gets no reply', next: () => undefined },
  { failure: 'is refused with 429', next: refuse },
]) {
  test(`a message to a left-out device alone fails if the question about it ${failure}`, async () => {
    const { sessions, asked, logged } = await afterFirstMessage(next);
    await assert.rejects(sessions.reach([LEFT_OUT]));
    assert.deepEqual([asked, logged], [[LEFT_OUT], []]);
  });
}

test('a left-out device with an old session is asked about again, since its person may not read that', async () => {
  const { sessions, asked, withSession } = await afterFirstMessage(() => undefined);
  withSession.add(LEFT_OUT);
  await assert.rejects(sessions.reach([LEFT_OUT]));
  assert.deepEqual(asked, [LEFT_OUT]);
});

test('of two left-out devices, one whose keys are given now gets the message, and the other is asked again', async () => {
  const both = [LEFT_OUT, ALSO_LEFT_OUT];
  const { sessions, asked } = await afterFirstMessage(
    (users) => answer(users.map((user) => (user.attrs.jid === LEFT_OUT ? withKeys(user) : busy(user)))),
    both,
  );
  assert.equal(await sessions.reach(both), true);
  assert.deepEqual(asked.splice(0), both);
  assert.equal(await sessions.reach([ALSO_LEFT_OUT]), false);
  assert.equal(await sessions.reach(both), true);
  assert.deepEqual(asked, [ALSO_LEFT_OUT, ALSO_LEFT_OUT]);
});

test('a post asks once about two left-out devices, and a failure leaves both out once more', async () => {
  const both = [LEFT_OUT, ALSO_LEFT_OUT];
  let questions = 0;
  const { sessions, asked, logged } = await afterFirstMessage(() => {
    questions += 1;
    return undefined;
  }, both);
  assert.equal(await sessions.reach([READER, ...both]), true);
  assert.deepEqual([questions, logged.length], [1, 1]);
  assert.equal(await sessions.reach([READER, ...both]), true);
  assert.deepEqual([questions, asked], [2, [...both, ...both]]);
});

for (const code of ['404', '503']) {
  /** Returns device sessions that are refused all keys. `onAsked` runs while a question is under way. */
  const refusedKeys = async (onAsked: (address: string) => void) =>
    afterFirstMessage((users) => {
      for (const { attrs } of users) onAsked(attrs.jid ?? '');
      return answer(users.map((user) => refused(user, code)));
    });

  for (const { device, which } of [
    { device: LEFT_OUT, which: 'left-out' },
    { device: ALSO_LEFT_OUT, which: 'new' },
  ]) {
    test(`a ${which} device whose message is read before its keys are refused with ${code} is not left out`, async () => {
      const { sessions, memory, asked, withSession } = await refusedKeys((address) => {
        // This is what `ratchets.ts` does.
        withSession.add(address);
        memory.keyless.del(address);
      });
      assert.deepEqual(await sessions.open([device]), [device]);
      assert.deepEqual(await sessions.open([device]), [device]);
      assert.deepEqual(asked, [device]);
    });
  }

  for (const isFresh of [false, true]) {
    const whose = isFresh ? 'a device that cannot read its session' : 'a left-out device with an old session';
    test(`${whose} is left out if new keys are refused with ${code}`, async () => {
      const { sessions, asked, withSession } = await refusedKeys(() => undefined);
      withSession.add(LEFT_OUT);
      assert.deepEqual(await sessions.open([LEFT_OUT], isFresh), []);
      assert.deepEqual(asked.splice(0), [LEFT_OUT]);
      assert.deepEqual(await sessions.open([LEFT_OUT]), []);
      assert.deepEqual(asked, code === '404' ? [] : [LEFT_OUT], '404 is for an hour');
    });
  }
}
