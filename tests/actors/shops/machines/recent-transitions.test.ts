/** The last steps of a shop's machines, as operators see them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RecentTransitions } from '../../../../actors/shops/state/recent-transitions.ts';
import { ShopHarness } from '../shop-harness.ts';

const step = (event: string) => ({ machine: 'pacing', from: 'idle', to: 'gap', event });

test('the last twenty are listed, newest last, each with its moment', () => {
  const transitions = new RecentTransitions();
  assert.deepEqual(transitions.list(), []);
  for (let count = 1; count < 48; count += 1) {
    transitions.note(step(`e${count}`), count);
    const newest = Array.from({ length: Math.min(count, 20) }, (_, index) => count - index).reverse();
    assert.deepEqual(
      transitions.list(),
      newest.map((number) => ({ ...step(`e${number}`), atMs: number })),
    );
  }
});

test('each step of a message is noted once its turn is committed', async () => {
  const shop = await ShopHarness.connected();
  const countBefore = shop.state.transitions.list().length;
  const messageId = shop.send();
  shop.toWire(messageId);
  shop.session({ type: 'session.send_outcome', messageId, outcome: { kind: 'acknowledged' } });
  const steps = shop.state.transitions.list().slice(countBefore);
  assert.deepEqual(
    steps.map(({ machine, from, to, event }) => `${machine}: ${from} → ${to} by ${event}`),
    [
      'pacing: idle → preparing by dispatch',
      'pacing: preparing → sending by prepared',
      'pacing: sending → gap by outcome',
    ],
  );
  assert.ok(steps.every(({ atMs }) => atMs === shop.nowMs));
});

test('a turn that is not committed leaves nothing', async () => {
  const shop = await ShopHarness.connected();
  const transitionsBefore = shop.state.transitions.list();
  shop.decide({ type: 'disconnect' });
  assert.deepEqual(shop.state.transitions.list(), transitionsBefore);
  shop.command({ type: 'disconnect' });
  assert.equal(shop.state.transitions.list().length, transitionsBefore.length + 1);
});
