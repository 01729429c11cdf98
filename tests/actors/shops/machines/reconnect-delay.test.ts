/** How long a shop waits after an end of its session. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reconnectDelayMs } from '../../../../actors/shops/machines/reconnect-delay.ts';

test('shops whose client version is refused come back apart from each other, soon after a newer one may be known', () => {
  const waitMs = (attempts: number, chance: number): number =>
    reconnectDelayMs({ attempts, loginRefusals: 0, end: 'outdated', chance });
  assert.deepEqual([waitMs(0, 0), waitMs(0, 0.5), waitMs(0, 1)], [45_000, 67_500, 90_000]);
  assert.deepEqual([waitMs(1, 0), waitMs(1, 1)], [90_000, 180_000]);
  for (const attempts of [2, 5, 1_000])
    assert.deepEqual([waitMs(attempts, 0), waitMs(attempts, 1)], [150_000, 300_000], `${attempts} attempts`);
});
