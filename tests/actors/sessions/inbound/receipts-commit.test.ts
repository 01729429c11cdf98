/** A receipt is acknowledged to the network after its commit. Without a commit it comes again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../../testbed/waiting.ts';
import { textOrder } from '../conformance-network.ts';
import { pairedShop } from '../paired-shop.ts';

test('a receipt that was not committed is reported again by the next session, and a committed one is not', async (context) => {
  const { network, shop, host, log, outcomeOf } = await pairedShop(context);
  const sent = async (text: string): Promise<string> => {
    const order = textOrder(text);
    assert.equal((await outcomeOf(order)).kind, 'acknowledged');
    return order.wireId;
  };
  const reopened = async (generation: number): Promise<void> => {
    await network.loseWorker(shop);
    await log.next(shop, 'session.worker_lost');
    await until('a worker is ready', async () => host.isAvailable());
    host.open(shop, { generation });
    await log.next(shop, 'session.connected', (event) => event.generation === generation);
  };
  const told = async (count: number) => {
    const { token, receipts } = await log.next(
      shop,
      'session.receipts',
      ({ generation }) => generation === count,
    );
    return { token, wireIds: receipts.map(({ wireId }) => wireId) };
  };
  const first = await sent('first');
  assert.deepEqual((await told(2)).wireIds, [first]);
  await reopened(3);
  const again = await told(3);
  assert.deepEqual(again.wireIds, [first]);
  host.order(shop, { type: 'confirm', token: again.token });
  const second = await sent('second');
  assert.deepEqual((await told(3)).wireIds, [second]);
  await reopened(4);
  assert.deepEqual((await told(4)).wireIds, [second], 'the first one is not told again');
});

test('a receipt whose commit takes too long delays neither others nor messages, and is acknowledged when it comes', async (context) => {
  const { network, shop, host, log, outcomeOf } = await pairedShop(context, { timing: { confirmMs: 1 } });
  const tokens: string[] = [];
  const wireIds: string[] = [];
  for (const text of ['one', 'two', 'three']) {
    const order = textOrder(text);
    assert.equal((await outcomeOf(order)).kind, 'acknowledged');
    const { token, receipts } = await log.next(shop, 'session.receipts');
    assert.deepEqual(
      receipts.map(({ wireId }) => wireId),
      [order.wireId],
    );
    tokens.push(token);
    wireIds.push(order.wireId);
  }
  // Only the first receipt is committed.
  host.order(shop, { type: 'confirm', token: tokens[0] ?? '' });
  const order = textOrder('four');
  assert.equal((await outcomeOf(order)).kind, 'acknowledged');
  await network.loseWorker(shop);
  await log.next(shop, 'session.worker_lost');
  await until('a worker is ready', async () => host.isAvailable());
  host.open(shop, { generation: 3 });
  const again = new Set<string>();
  while (again.size < 3) {
    const { receipts } = await log.next(shop, 'session.receipts', ({ generation }) => generation === 3);
    for (const { wireId } of receipts) again.add(wireId);
  }
  assert.deepEqual(again, new Set([...wireIds.slice(1), order.wireId]));
});
