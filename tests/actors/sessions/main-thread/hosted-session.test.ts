/** The orders of one shop's session, as the main thread keeps them: which report belongs to which attempt. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HostedSession } from '../../../../actors/sessions/main-thread/hosted-session.ts';
import { FakeClock } from '../../../testbed/fake-clock.ts';
import { newShop } from '../conformance-network.ts';

const hosted = () => new HostedSession(newShop(), { generation: 1 }, new FakeClock());

test('a report of an attempt that was recalled is not one of the attempt after it', () => {
  const orders = hosted();
  const first = orders.take('m') ?? 0;
  assert.ok(orders.isOpen('m', first));
  assert.ok(orders.recall('m'));
  assert.ok(!orders.isOpen('m', first));
  const second = orders.take('m') ?? 0;
  assert.deepEqual([orders.isOpen('m', first), orders.isOpen('m', second)], [false, true]);
  orders.settle('m', { kind: 'not_sent' });
  assert.ok(!orders.isOpen('m', second));
});

test('an order that was transmitted is neither recalled nor given again, and its outcome still counts', () => {
  const orders = hosted();
  const attempt = orders.take('m') ?? 0;
  assert.ok(orders.transmit('m'));
  assert.deepEqual([orders.recall('m'), orders.take('m')], [false, undefined]);
  assert.ok(orders.isOpen('m', attempt));
  assert.deepEqual(orders.settleAll(), [{ messageId: 'm', generation: 1, outcome: { kind: 'restarted' } }]);
  assert.ok(!orders.transmit('m'), 'it has its outcome');
});
