import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resolveSettings } from '../../policy/tenant-settings.ts';
import { messageCaps, shareOf } from '../../policy/warm-up.ts';
import { DAY_MS } from '../../runtime/durations.ts';
import { START_MS } from './sends.ts';

test('a share of a cap is rounded down, and is at least one unless the cap is zero', () => {
  for (const [cap, share, expected] of [
    [20, 0.7, 14],
    [41, 0.7, 28],
    [10, 0.35, 3],
    [3, 0.1, 1],
    [1, 0.9, 1],
    [2, 0, 1],
    [0, 0.9, 0],
    [7, 1, 7],
    [7, undefined, 7],
  ] as const)
    assert.equal(shareOf(cap, share), expected, `${share} of ${cap}`);
});

test('each cap has its share', () => {
  const settings = resolveSettings({ declaredPerDay: 9 });
  const caps = messageCaps({ settings, pairedAtMs: START_MS - 20 * DAY_MS, share: 0.35, nowMs: START_MS });
  assert.deepEqual(caps, { perDay: 87, perHour: 14, coldPerDay: 8, declaredPerDay: 3 });
});
