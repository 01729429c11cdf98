import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TurnBuilder } from '../../actors/shops/turns/builder/turn-builder.ts';
import { EVENT_LIMITS } from '../../actors/tenants/tenant-event.ts';
import { ShopHarness } from './shop-harness.ts';

test('all effects of a turn run after its commit, in order', async () => {
  const { state, nowMs } = await ShopHarness.start();
  const times = {
    gapFromMs: 0,
    gapToMs: 0,
    pauseMs: 0,
    preparingMs: 0,
    outcomeMs: 0,
  };
  const draft = new TurnBuilder(state, nowMs, { random: () => 0, times, eventLimits: EVENT_LIMITS });
  const done: string[] = [];
  for (const name of ['one', 'two', 'three']) draft.onCommitted(() => void done.push(name));
  const { committed } = draft.finish();
  assert.deepEqual(done, []);
  committed?.();
  assert.deepEqual(done, ['one', 'two', 'three']);
});
