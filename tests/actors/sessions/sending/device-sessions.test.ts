/** Queries for the keys of devices, to a network that refuses a whole query because of one device. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type BinaryNode,
  getBinaryNodeChildren,
  jidEncode,
  type USyncQuery,
  type WASocket,
} from '@whiskeysockets/baileys';
import {
  DeviceSessions,
  devicesWithKeys,
  type KnownDevice,
} from '../../../../actors/sessions/worker-thread/sending/device-sessions.ts';
import { describeDefect } from '../../../../actors/sessions/worker-thread/shared/defect.ts';
import type { SessionContext } from '../../../../actors/sessions/worker-thread/shared/session-context.ts';
import { newShopMemory } from '../../../../actors/sessions/worker-thread/shared/session-environment.ts';
import { userOf } from '../../../../actors/sessions/worker-thread/wire/chat-address.ts';
import { FakeClock } from '../../../testbed/fake-clock.ts';
import { fakeOf } from '../../../testbed/fake-of.ts';
import { withKeys } from './device-keys.ts';

const DEVICES = Array.from({ length: 1_000 }, (_, index) => `${100_000 + index}@lid`);

/** Returns a network that refuses every query about any of these devices. */
function refusing(refused: ReadonlySet<string>, inject: () => void = () => undefined) {
  const asked: number[] = [];
  const socket = {
    user: { id: '33600000001:2@s.whatsapp.net', lid: '900:2@lid' },
    signalRepository: {
      validateSession: async () => ({ exists: false }),
      getSessionInfo: async () => null,
      injectE2ESession: async () => inject(),
    },
    async query({ content }: BinaryNode) {
      const [key] = content as BinaryNode[];
      const users = getBinaryNodeChildren(key, 'user');
      asked.push(users.length);
      if (users.some(({ attrs }) => refused.has(attrs.jid ?? '')))
        throw Object.assign(new Error('not-acceptable'), { data: 406 });
      return { tag: 'iq', attrs: {}, content: [{ tag: 'list', attrs: {}, content: users.map(withKeys) }] };
    },
  };
  const logged: unknown[] = [];
  const context = fakeOf<SessionContext>({
    memory: newShopMemory(new FakeClock()),
    logFailure: () => (error) => void logged.push(describeDefect(error)),
  });
  const sessions = new DeviceSessions(context, socket as unknown as WASocket);
  return { sessions, asked, logged };
}

test('two devices for which the network refuses the request are left out, and the others are not', async () => {
  const missingDevices = [DEVICES[123] ?? '', DEVICES[777] ?? ''];
  const { sessions, asked } = refusing(new Set(missingDevices));
  const open = await sessions.open(DEVICES);
  assert.deepEqual(
    DEVICES.filter((address) => !open.includes(address)),
    missingDevices,
  );
  const { length } = asked;
  assert.deepEqual(await sessions.open(missingDevices), []);
  assert.equal(asked.length, length, 'they are left out for an hour');
});

test('a device whose keys the client does not take is left out, and the log names the error alone', async () => {
  const { sessions, asked, logged } = refusing(new Set(), () => {
    throw new TypeError('bad key 0501aa of 33600000002');
  });
  assert.deepEqual(await sessions.open(DEVICES.slice(0, 1)), []);
  assert.deepEqual(await sessions.open(DEVICES.slice(0, 1)), []);
  assert.equal(asked.length, 1, 'it is left out for an hour');
  assert.equal(logged.length, 1);
  assert.match(JSON.stringify(logged), /"error":"TypeError","cause":""/);
  assert.doesNotMatch(JSON.stringify(logged), /0501aa|33600000002/);
});

test('a network that refuses every request gets a few, and no device counts as without keys', async () => {
  const { sessions, asked } = refusing(new Set(DEVICES));
  await assert.rejects(sessions.open(DEVICES), { data: 406 });
  assert.ok(asked.length <= 51, `${asked.length} questions`);
  const { length } = asked;
  await assert.rejects(sessions.open(DEVICES), { data: 406 });
  assert.ok(asked.length > length, 'they are asked about again');
});

for (const { code, isAskedAgain } of [
  { code: '404', isAskedAgain: false },
  { code: '406', isAskedAgain: false },
  { code: '429', isAskedAgain: true },
  { code: '503', isAskedAgain: true },
  { code: undefined, isAskedAgain: true },
]) {
  const refusal = code === undefined ? 'is not named in the answer' : `is refused with ${code}`;
  const next = isAskedAgain ? 'is asked about with the next message' : 'is left out for an hour';
  test(`a device that ${refusal} ${next}`, async () => {
    const clock = new FakeClock();
    const memory = newShopMemory(clock);
    const own = { id: '33600000001:2@s.whatsapp.net', lid: '900:2@lid' };
    const seenStore = devicesWithKeys(memory, () => own);
    let answer = (user: BinaryNode): BinaryNode[] =>
      code === undefined ? [] : [{ ...user, content: [{ tag: 'error', attrs: { code } }] }];
    const asked: string[] = [];
    const socket = {
      user: own,
      signalRepository: {
        validateSession: async () => ({ exists: false }),
        getSessionInfo: async () => null,
        injectE2ESession: async () => undefined,
      },
      async getUSyncDevices(people: readonly string[]) {
        const lists = await Promise.all(
          people.map((person) => seenStore.get<readonly KnownDevice[]>(userOf(person))),
        );
        return lists.flatMap((list = []) =>
          list.map(({ user, server, device }) => ({ jid: jidEncode(user, server, device) })),
        );
      },
      async query({ content }: BinaryNode) {
        const users = getBinaryNodeChildren((content as BinaryNode[])[0], 'user');
        asked.push(...users.map(({ attrs }) => attrs.jid ?? ''));
        return {
          tag: 'iq',
          attrs: {},
          content: [{ tag: 'list', attrs: {}, content: users.flatMap(answer) }],
        };
      },
    };
    await seenStore.set('900', [{ user: '900', server: 'lid', device: 2 }]);
    await seenStore.set('100', [{ user: '100', server: 'lid', device: 0 }]);
    const sessions = new DeviceSessions(fakeOf<SessionContext>({ memory }), socket as unknown as WASocket);
    assert.equal(await sessions.reach(['100@lid']), false);
    assert.deepEqual(await seenStore.get('100'), [], 'the client does not see it');
    assert.equal(await sessions.reach(['100@lid']), false);
    assert.deepEqual(asked, isAskedAgain ? ['100@lid', '100@lid'] : ['100@lid']);
    answer = (user) => [withKeys(user)];
    assert.equal(await sessions.reach(['100@lid']), isAskedAgain);
    assert.equal((await seenStore.get<unknown[]>('100'))?.length, isAskedAgain ? 1 : 0);
  });
}

test('opening sessions with many devices lets others have the thread after each', async () => {
  const steps: string[] = [];
  const { sessions } = refusing(new Set(), () => {
    if (steps.length === 0) setImmediate(() => steps.push('another session'));
    steps.push('opened');
    const endMs = performance.now() + 1;
    while (performance.now() < endMs);
  });
  await sessions.open(DEVICES.slice(0, 3));
  assert.deepEqual(steps, ['opened', 'another session', 'opened', 'opened']);
});

test('a shop that sends every six minutes asks for its own devices once a day', async () => {
  const [own, person] = ['33600000001@s.whatsapp.net', '33600000002@s.whatsapp.net'];
  const clock = new FakeClock();
  const asked: string[] = [];
  const deviceList = [{ id: 0 }, { id: 3, keyIndex: 3 }];
  const socket = {
    user: { id: '33600000001:3@s.whatsapp.net', lid: '100:3@lid' },
    signalRepository: { lidMapping: { storeLIDPNMappings: async () => undefined } },
    async executeUSyncQuery({ users }: USyncQuery) {
      const ids = users.map(({ id = '' }) => id);
      asked.push(...ids);
      return {
        list: ids.map((id) => ({ id, lid: id === own ? '100@lid' : '200@lid', devices: { deviceList } })),
      };
    },
    getUSyncDevices: async () => [],
  };
  const context = fakeOf<SessionContext>({ memory: newShopMemory(clock) });
  const sessions = new DeviceSessions(context, socket as unknown as WASocket);
  const times = 3 * 24 * 10;
  for (let index = 0; index < times; index += 1) {
    await sessions.reach([person]);
    await clock.advance(360_000);
  }
  assert.equal(asked.filter((address) => address === own).length, 3);
  assert.equal(asked.filter((address) => address === person).length, times);
});

test('the client sees neither its own device nor one without keys, until it is asked about again', async () => {
  const clock = new FakeClock();
  const memory = newShopMemory(clock);
  const known = [0, 3].map((device) => ({ user: '100', server: 'lid', device }));
  const seenStore = devicesWithKeys(memory, () => ({ id: '33600000001:3@s.whatsapp.net', lid: '100@lid' }));
  await seenStore.set('100', known);
  assert.deepEqual(await seenStore.get('100'), [known[0]]);
  memory.keyless.set('100@lid', 'no keys', 1_000);
  assert.deepEqual(await seenStore.get('100'), []);
  await clock.advance(1_000);
  assert.deepEqual(await seenStore.get('100'), [known[0]]);
});
