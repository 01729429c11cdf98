import assert from 'node:assert/strict';
import { test } from 'node:test';
import { finishTurn } from '../../../../actors/shops/turns/builder/step-machines.ts';
import { TurnBuilder } from '../../../../actors/shops/turns/builder/turn-builder.ts';
import { EVENT_LIMITS } from '../../../testbed/event-limits.ts';
import { ShopHarness } from '../shop-harness.ts';

test('callbacks of `onCommitted` run in their order, and only when `committed` is called', async () => {
  const { state, nowMs } = await ShopHarness.start();
  const times = {
    sendGap: { minMs: 0, maxMs: 0 },
    pauseMs: 0,
    preparingMs: 0,
    outcomeMs: 0,
  };
  const options = { random: () => 0, makeId: () => '', times, eventLimits: EVENT_LIMITS, retentionMs: 0 };
  const builder = new TurnBuilder(state, nowMs, options);
  const done: string[] = [];
  for (const name of ['one', 'two', 'three']) builder.onCommitted(() => void done.push(name));
  const { committed } = finishTurn(builder);
  assert.deepEqual(done, []);
  committed?.();
  assert.deepEqual(done, ['one', 'two', 'three']);
});
