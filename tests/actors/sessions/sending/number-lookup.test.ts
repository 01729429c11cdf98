import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BinaryNode, USyncQuery, type USyncQueryResult, type WASocket } from '@whiskeysockets/baileys';
import { lookUpIds, lookUpNumbers } from '../../../../actors/sessions/worker-thread/sending/number-lookup.ts';
import { newShopMemory } from '../../../../actors/sessions/worker-thread/shared/session-environment.ts';
import { spellOutErrors } from '../../../../actors/sessions/worker-thread/wire/usync-errors.ts';
import { HOUR_MS } from '../../../../runtime/durations.ts';
import { FakeClock } from '../../../testbed/fake-clock.ts';
import { fakeOf } from '../../../testbed/fake-of.ts';

const PERSON = '33622222222@s.whatsapp.net';
const OTHER = '33633333333@s.whatsapp.net';

/** Returns a socket that gets these answers, the last one again and again, and its queries. */
function socketAnswered(...answers: (USyncQueryResult['list'] | undefined)[]) {
  const asked: { context: string; protocols: string[]; users: (string | undefined)[] }[] = [];
  const socket = fakeOf<WASocket>({
    user: { id: '33611110001:2@s.whatsapp.net', lid: '900:2@lid' },
    async executeUSyncQuery({ context, protocols, users }: USyncQuery) {
      const list = answers[Math.min(asked.length, answers.length - 1)];
      asked.push({ context, protocols: protocols.map(({ name }) => name), users: users.map(({ id }) => id) });
      return list === undefined ? undefined : { list, sideList: [] };
    },
  });
  const clock = new FakeClock();
  return { socket, asked, clock, memory: newShopMemory(clock) };
}

test('one query returns the ids of numbers and their devices, which are known by these ids from then on', async () => {
  const deviceList = [{ id: 0 }, { id: 3, keyIndex: 3 }, { id: 4 }];
  const { socket, asked, memory } = socketAnswered([
    { id: PERSON, lid: '100@lid', devices: { deviceList } },
    { id: OTHER, lid: '200@lid' },
    { id: '33644444444@s.whatsapp.net' },
  ]);
  assert.deepEqual(await lookUpNumbers(socket, memory, [PERSON, OTHER]), [
    { pn: PERSON, lid: '100@lid' },
    { pn: OTHER, lid: '200@lid' },
  ]);
  // The client asks for devices like this.
  assert.deepEqual(asked, [{ context: 'message', protocols: ['devices', 'lid'], users: [PERSON, OTHER] }]);
  const known = memory.devices.get<{ user: string; device: number; server: string }[]>('100');
  // A device without a key index cannot be written to.
  assert.deepEqual(
    known?.map(({ user, device, server }) => [user, device, server]),
    [
      ['100', 0, 'lid'],
      ['100', 3, 'lid'],
    ],
  );
  assert.equal(memory.devices.get<unknown[]>('33622222222')?.length, 2, 'and by the number');
  assert.equal(
    memory.devices.get('200'),
    undefined,
    'no device is no answer: they are asked for when it is sent',
  );
});

test('a query that is not answered in time finds no numbers', async () => {
  const { socket, memory } = socketAnswered(undefined);
  assert.equal(await lookUpNumbers(socket, memory, [PERSON]), undefined);
});

test('rows about a number that was not asked for, and rows with an invalid id, are ignored', async () => {
  const deviceList = [{ id: 0 }];
  const { socket, memory } = socketAnswered([
    { id: OTHER, lid: '200@lid', devices: { deviceList } },
    { id: PERSON, lid: '100', devices: { deviceList } },
    { id: PERSON, lid: '33644444444@s.whatsapp.net', devices: { deviceList } },
  ]);
  assert.deepEqual(await lookUpNumbers(socket, memory, [PERSON]), []);
  for (const user of ['200', '100', '33644444444']) assert.equal(memory.devices.get(user), undefined);
});

test('a number without an id is not asked about again for an hour, and others beside it are', async () => {
  const { socket, asked, clock, memory } = socketAnswered(
    [{ id: PERSON }],
    [{ id: OTHER, lid: '200@lid' }],
    [{ id: PERSON, lid: '100@lid' }],
  );
  const found = (...people: string[]) => lookUpIds(socket, memory, people);
  for (let message = 0; message < 3; message += 1) assert.deepEqual(await found(PERSON), []);
  assert.deepEqual(await found(PERSON, OTHER), [{ pn: OTHER, lid: '200@lid' }]);
  await clock.advance(HOUR_MS);
  assert.deepEqual(await found(PERSON), [{ pn: PERSON, lid: '100@lid' }]);
  assert.deepEqual(
    asked.map(({ users }) => users),
    [[PERSON], [OTHER], [PERSON]],
  );
});

test('a question without an answer, or whose answer leaves the number out, is asked again', async () => {
  const { socket, memory } = socketAnswered(undefined, [], [{ id: PERSON, lid: '100@lid' }]);
  assert.equal(await lookUpIds(socket, memory, [PERSON]), undefined);
  assert.deepEqual(await lookUpIds(socket, memory, [PERSON]), []);
  assert.deepEqual(await lookUpIds(socket, memory, [PERSON]), [{ pn: PERSON, lid: '100@lid' }]);
});

test('after an error about the id of a number, the number is looked up again', async () => {
  const phone: BinaryNode = { tag: 'device', attrs: { id: '0' } };
  const devices: BinaryNode = {
    tag: 'devices',
    attrs: {},
    content: [{ tag: 'device-list', attrs: {}, content: [phone] }],
  };
  const error: BinaryNode = { tag: 'error', attrs: { code: '500', text: 'internal-server-error' } };
  const row = (jid: string, lid?: BinaryNode): BinaryNode => ({
    tag: 'user',
    attrs: { jid },
    content: [devices, ...(lid === undefined ? [] : [lid])],
  });
  const failedNode = row(PERSON, { tag: 'lid', attrs: {}, content: [error] });
  const namedNode = row(PERSON, { tag: 'lid', attrs: { val: '100@lid' } });
  const emptyNode = row(OTHER);
  const { socket, asked, memory } = socketAnswered(
    rowsRead([failedNode]),
    rowsRead([failedNode, emptyNode]),
    rowsRead([namedNode]),
  );
  assert.deepEqual(await lookUpIds(socket, memory, [PERSON]), []);
  assert.deepEqual(await lookUpIds(socket, memory, [PERSON, OTHER]), []);
  assert.deepEqual(await lookUpIds(socket, memory, [PERSON, OTHER]), [{ pn: PERSON, lid: '100@lid' }]);
  assert.deepEqual(
    asked.map(({ users }) => users),
    [[PERSON], [PERSON, OTHER], [PERSON]],
  );
});

/** Returns the rows of an answer as the client's own reader takes them. */
function rowsRead(rows: BinaryNode[]): USyncQueryResult['list'] | undefined {
  const content = [
    { tag: 'result', attrs: {} },
    { tag: 'list', attrs: {}, content: structuredClone(rows) },
  ];
  const answer: BinaryNode = {
    tag: 'iq',
    attrs: { type: 'result' },
    content: [{ tag: 'usync', attrs: {}, content }],
  };
  spellOutErrors(answer);
  return new USyncQuery().withDeviceProtocol().withLIDProtocol().parseUSyncQueryResult(answer)?.list;
}
