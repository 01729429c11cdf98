/** A phone's history contains tokens of contacts. They are stored where the client looks for them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContactToken } from '../../../../actors/sessions/worker-thread/connection/history-facts.ts';
import {
  storeMappings,
  storeTokens,
} from '../../../../actors/sessions/worker-thread/connection/history-store.ts';
import { MemoryAuth } from '../../../simulator/test-client.ts';

const NUMBER = '33622222222@s.whatsapp.net';
const LID = '123456789012345@lid';

const token = (chat: string, issuedAt: number): ContactToken => ({
  chat,
  token: Buffer.from(`${chat} ${issuedAt}`),
  issuedAt,
  ownIssuedAt: undefined,
});

async function stored(parts: readonly (readonly ContactToken[])[], hasMapping = true): Promise<string[]> {
  const { keys } = new MemoryAuth();
  if (hasMapping) await keys.set({ 'lid-mapping': { '33622222222': '123456789012345' } });
  for (const part of parts) await storeTokens({ keys, storeNow: (data) => keys.set(data) }, part);
  const found = await keys.get('tctoken', [NUMBER, LID]);
  return Object.entries(found).map(([place, { token: bytes }]) => `${place}: ${Buffer.from(bytes)}`);
}

test('the newest of two tokens of one contact is kept, whichever comes first', async () => {
  const newerToken = token(NUMBER, 20);
  const olderToken = token(LID, 10);
  const expectedNumbers = [`${LID}: ${NUMBER} 20`];
  assert.deepEqual(await stored([[newerToken, olderToken]]), expectedNumbers);
  assert.deepEqual(await stored([[olderToken, newerToken]]), expectedNumbers);
  assert.deepEqual(await stored([[newerToken], [olderToken]]), expectedNumbers);
});

test('a token is kept under the id from an earlier part of the history, and by number if there was none', async () => {
  assert.deepEqual(await stored([[token(NUMBER, 1)]]), [`${LID}: ${NUMBER} 1`]);
  assert.deepEqual(await stored([[token(NUMBER, 1)]], false), [`${NUMBER}: ${NUMBER} 1`]);
});

test('a token by number moves to the id that a later part of the history names', async () => {
  const { keys } = new MemoryAuth();
  const store = { keys, storeNow: keys.set };
  await storeTokens(store, [token(NUMBER, 1)]);
  await storeMappings(store, [['33622222222', '123456789012345']]);
  const found = await keys.get('tctoken', [NUMBER, LID]);
  assert.deepEqual(Object.keys(found), [LID]);
});
