import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { USyncQuery, USyncQueryResult, WASocket } from '@whiskeysockets/baileys';
import { lookUpNumbers } from '../../actors/sessions/worker-thread/sending/number-lookup.ts';
import { ExpiringCache } from '../../actors/sessions/worker-thread/session/expiring-cache.ts';

const PERSON = '33622222222@s.whatsapp.net';
const OTHER = '33633333333@s.whatsapp.net';

/** A session's socket that is answered so, and what it asks. */
function socketAnswered(list: USyncQueryResult['list'] | undefined) {
  const asked: { context: string; protocols: string[]; users: (string | undefined)[] }[] = [];
  const socket = {
    user: { id: '33611110001:2@s.whatsapp.net', lid: '900:2@lid' },
    async executeUSyncQuery({ context, protocols, users }: USyncQuery) {
      asked.push({ context, protocols: protocols.map(({ name }) => name), users: users.map(({ id }) => id) });
      return list === undefined ? undefined : { list, sideList: [] };
    },
  } as unknown as WASocket;
  return { socket, asked, devices: new ExpiringCache({ lifeMs: 1_000, maxEntries: 10, nowMs: () => 0 }) };
}

test('one question returns the ids of numbers and the devices behind them, which are known by these ids from then on', async () => {
  const deviceList = [{ id: 0 }, { id: 3, keyIndex: 3 }, { id: 4 }];
  const { socket, asked, devices } = socketAnswered([
    { id: PERSON, lid: '100@lid', devices: { deviceList } },
    { id: OTHER, lid: '200@lid' },
    { id: '33644444444@s.whatsapp.net' },
  ]);
  assert.deepEqual(await lookUpNumbers(socket, devices, [PERSON, OTHER]), [
    { pn: PERSON, lid: '100@lid' },
    { pn: OTHER, lid: '200@lid' },
  ]);
  // The client asks for devices like this.
  assert.deepEqual(asked, [{ context: 'message', protocols: ['devices', 'lid'], users: [PERSON, OTHER] }]);
  const known = devices.get<{ user: string; device: number; server: string }[]>('100');
  // A device without a key index cannot be written to.
  assert.deepEqual(
    known?.map(({ user, device, server }) => [user, device, server]),
    [
      ['100', 0, 'lid'],
      ['100', 3, 'lid'],
    ],
  );
  assert.equal(devices.get<unknown[]>('33622222222')?.length, 2, 'and by the number');
  assert.equal(devices.get('200'), undefined, 'no device is no answer: they are asked for when it is sent');
});

test('no answer in time is none', async () => {
  const { socket, devices } = socketAnswered(undefined);
  assert.equal(await lookUpNumbers(socket, devices, [PERSON]), undefined);
});

test('an answer of a number that was not asked for counts for nothing, nor one whose id is none', async () => {
  const deviceList = [{ id: 0 }];
  const { socket, devices } = socketAnswered([
    { id: OTHER, lid: '200@lid', devices: { deviceList } },
    { id: PERSON, lid: '100', devices: { deviceList } },
    { id: PERSON, lid: '33644444444@s.whatsapp.net', devices: { deviceList } },
  ]);
  assert.deepEqual(await lookUpNumbers(socket, devices, [PERSON]), []);
  for (const user of ['200', '100', '33644444444']) assert.equal(devices.get(user), undefined);
});
