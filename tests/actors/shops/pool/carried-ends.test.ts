/** The end of a message that the pool carries is published by its own shop alone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LEDGER_BOUND } from '../../../../policy/send-ledger.ts';
import { DAY_MS, MINUTE_MS } from '../../../../runtime/durations.ts';
import type { ShopHarness } from '../shop-harness.ts';
import { PoolExchange, poolShop } from './pool-exchange.ts';

/** Returns a message that a shop of the pool has taken, and the two shops. */
async function carried() {
  const exchange = await PoolExchange.start(1, 1);
  const { origin } = exchange;
  const [pool] = exchange.pools;
  assert.ok(pool);
  const id = origin.send('+33612345678', 'hello', poolShop(0));
  assert.equal(exchange.take(pool, id).kind, 'taken');
  return { exchange, origin, pool, id };
}

/** Returns the type and the message of each event about a message that the shop stored for its tenant. */
function published({ writes }: ShopHarness): unknown[] {
  return writes
    .filter(([command]) => command === 'XADD')
    .map((write) => [write[write.indexOf('t') + 1], write[write.indexOf('d') + 1]])
    .filter(([type]) => String(type).startsWith('message.'));
}

test('a message that the pool sent is published by the shop that owns it, and not by the pool shop', async () => {
  const { exchange, origin, pool, id } = await carried();
  exchange.work(pool);
  exchange.work(pool);
  while (exchange.deliverOne());
  assert.equal(exchange.record(pool, id)?.state?.status, 'sent');
  assert.deepEqual([published(origin), published(pool)], [[['message.sent', id]], []]);
});

test('a message that ends in a suspended pool shop is reported to its shop, and not published there', async () => {
  const { exchange, pool, id } = await carried();
  const sinceMs = pool.nowMs;
  pool.nowMs += 10 * MINUTE_MS;
  await pool.checkSuspended(sinceMs);
  assert.equal(exchange.record(pool, id)?.state?.status, 'failed');
  assert.equal(pool.effectsOf('note_end').length, 1);
  assert.deepEqual(published(pool), []);
});

test('a carried message that is cancelled counts no more, however many elements came after it', async () => {
  const { pool, id } = await carried();
  pool.command({ type: 'pause' });
  for (let count = 0; count < LEDGER_BOUND; count += 1)
    await pool.ask({ type: 'cancel', messageId: pool.send('+33612345600') });
  assert.equal(pool.state.ledger.size, 1);
  const createdAtMs = pool.nowMs;
  await pool.ask({ type: 'pool.withdraw', messageId: id, createdAtMs, reason: 'CANCELLED' });
  const { state } = await pool.successor('store');
  assert.deepEqual([pool.state.ledger.size, state.ledger.size], [0, 0]);
});

test('a message that the pool still prepares a day after its acceptance expires, and is recalled from the session', async () => {
  const { exchange, origin, pool, id } = await carried();
  pool.command({ type: 'pause' });
  pool.pass(DAY_MS - MINUTE_MS);
  pool.command({ type: 'resume' });
  const dispatch = { body: exchange.body(id), writer: undefined, audience: [] };
  pool.command({ type: 'first_look', messageId: id }, { dispatch });
  assert.equal(pool.effectsOf('prepare').length, 1);
  const recalledBefore = pool.idsOf('recall').length;
  pool.pass(MINUTE_MS);
  assert.deepEqual(pool.idsOf('recall').slice(recalledBefore), [id]);
  while (exchange.deliverOne());
  assert.equal(origin.statusOf(id), 'failed EXPIRED');
  assert.deepEqual([published(origin), published(pool)], [[['message.failed', id]], []]);
});
