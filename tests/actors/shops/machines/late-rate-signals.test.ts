/** Rate signals of the network about a message that is no longer being sent. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pacingState } from '../../../../actors/shops/state/shop-state.ts';
import { MINUTE_MS } from '../../../../runtime/durations.ts';
import { ShopHarness } from '../shop-harness.ts';

test('a rate signal about a message that was put back meanwhile still pauses the queue', async () => {
  const shop = await ShopHarness.connected();
  const messageId = shop.send();
  shop.passFirstLook(messageId);
  shop.command({ type: 'pause' });
  shop.outcome(messageId, { kind: 'rate_limited' });
  shop.command({ type: 'resume' });
  shop.pass(14 * MINUTE_MS);
  assert.deepEqual([pacingState(shop.state), shop.effectsOf('first_look').length], ['paused', 1]);
  shop.pass(MINUTE_MS);
  assert.deepEqual([pacingState(shop.state), shop.effectsOf('first_look').length], ['preparing', 2]);
});

test('a rate signal about an earlier message puts back the one being prepared, and ignores the one on the wire', async () => {
  for (const state of ['preparing', 'sending'] as const) {
    const shop = await ShopHarness.connected();
    const id = shop.send();
    if (state === 'preparing') shop.passFirstLook(id);
    else shop.toWire(id);
    assert.equal(pacingState(shop.state), state);
    shop.outcome('65f0000000000000000000ff', { kind: 'rate_limited' });
    const recalled = shop.idsOf('recall');
    const isOnWire = state === 'sending';
    assert.deepEqual(
      [pacingState(shop.state), shop.statusOf(id), recalled],
      [isOnWire ? state : 'paused', isOnWire ? state : 'queued', isOnWire ? [] : [id]],
    );
    if (isOnWire) continue;
    shop.pass(15 * MINUTE_MS);
    shop.toWire(id);
    assert.equal(shop.statusOf(id), 'sending');
  }
});

test('a late rate signal about the message being prepared recalls it; one on the wire keeps its outcome', async () => {
  for (const state of ['preparing', 'sending'] as const) {
    const shop = await ShopHarness.connected();
    const messageId = shop.send();
    if (state === 'preparing') shop.passFirstLook(messageId);
    else shop.toWire(messageId);
    const outcome = { kind: 'rate_limited' } as const;
    shop.session({ type: 'session.send_outcome', messageId, outcome, isLate: true });
    const isOnWire = state === 'sending';
    assert.deepEqual(
      [pacingState(shop.state), shop.statusOf(messageId), shop.effectsOf('recall').length],
      [isOnWire ? 'sending' : 'paused', isOnWire ? 'sending' : 'queued', isOnWire ? 0 : 1],
    );
  }
});

test('the wait that a rate signal asks for counts if it is longer than 15 minutes, whichever message it is about', async () => {
  for (const [backoffMs, pausedMs] of [
    [5 * MINUTE_MS, 15 * MINUTE_MS],
    [60 * MINUTE_MS, 60 * MINUTE_MS],
  ] as const) {
    for (const isLate of [false, true]) {
      const shop = await ShopHarness.connected();
      const messageId = shop.send();
      const aboutId = isLate ? '65f0000000000000000000ff' : messageId;
      shop.outcome(aboutId, { kind: 'rate_limited', backoffMs });
      shop.restart();
      shop.pass(pausedMs - 1);
      assert.equal(pacingState(shop.state), 'paused', `${backoffMs} ms, late: ${isLate}`);
      shop.pass(1);
      assert.notEqual(pacingState(shop.state), 'paused');
    }
  }
});
