/** A phone's history names the ids of contacts. They are stored where the client looks for them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { storeMappings } from '../../../../actors/sessions/worker-thread/connection/history-store.ts';
import { MemoryAuth } from '../../../simulator/test-client.ts';

const NUMBER = '33622222222';
const OTHER_NUMBER = '33633333333';

/** Returns the stored entries after a session that knew some of them took the parts of a history. */
async function stored(
  known: Readonly<Record<string, string>>,
  parts: readonly (readonly (readonly [string, string])[])[],
): Promise<Record<string, string>> {
  const { keys } = new MemoryAuth();
  await keys.set({ 'lid-mapping': { ...known } });
  for (const part of parts) await storeMappings({ keys, storeNow: (data) => keys.set(data) }, part);
  const names = [NUMBER, OTHER_NUMBER, '100_reverse', '200_reverse'];
  return { ...(await keys.get('lid-mapping', names)) };
}

test('a history says whose id it is, in both directions', async () => {
  const both = { [NUMBER]: '100', '100_reverse': NUMBER, [OTHER_NUMBER]: '200', '200_reverse': OTHER_NUMBER };
  const [first, second] = [[NUMBER, '100'] as const, [OTHER_NUMBER, '200'] as const];
  assert.deepEqual(await stored({}, [[first, second]]), both);
  assert.deepEqual(await stored({}, [[first], [first, second]]), both);
});

test('a history that is taken late leaves the newer id of a number', async () => {
  const newer = { [NUMBER]: '200', '200_reverse': NUMBER };
  assert.deepEqual(await stored(newer, [[[NUMBER, '100']]]), newer);
});

test('a history that is taken late leaves an id to the number that has it now', async () => {
  const newer = { [NUMBER]: '100', '100_reverse': NUMBER };
  assert.deepEqual(await stored(newer, [[[OTHER_NUMBER, '100']]]), newer);
});
