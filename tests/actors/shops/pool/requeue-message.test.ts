/** A message that no pool shop has taken goes into its shop's own queue once the shop's session is open. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY_MS, MINUTE_MS } from '../../../../runtime/durations.ts';
import type { ShopHarness } from '../shop-harness.ts';
import { PoolExchange, poolShop } from './pool-exchange.ts';

const RECIPIENT = '+33612345678';

/** Returns a message that the only pool shop has refused, and the shops. `origin` has no session. */
async function refused() {
  const exchange = await PoolExchange.start(1, 1);
  const { origin } = exchange;
  const [pool] = exchange.pools;
  assert.ok(pool);
  const id = origin.send(RECIPIENT, 'hello', poolShop(0));
  pool.command({ type: 'pause' });
  while (exchange.deliverOne());
  assert.deepEqual(
    origin.state.pooled.map((message) => message.pool),
    [null],
  );
  return { exchange, origin, pool, id };
}

/** Returns the ids of the messages that a shop has in its queue or in progress. */
function ownIds({ state }: ShopHarness): string[] {
  return [state.currentMessage, ...state.queue].flatMap((message) => message?.messageId ?? []);
}

test('a message that the pool refused is sent by its own shop, without the line, and no pool shop takes it later', async () => {
  const { exchange, origin, pool, id } = await refused();
  const countedCount = origin.state.ledger.size;
  exchange.connectOrigin();
  origin.pass(2_000);
  while (exchange.deliverOne());
  assert.deepEqual([origin.state.pooled, ownIds(origin)], [[], [id]]);
  await origin.ask({ type: 'first_look', messageId: id });
  assert.deepEqual(
    origin.effectsOf('prepare').map(({ order }) => [order.messageId, order.text]),
    [[id, 'hello']],
  );
  origin.reportPrepared(id, []);
  origin.outcome(id, { kind: 'acknowledged' });
  assert.deepEqual([origin.statusOf(id), exchange.body(id).via], ['sent', 'shop']);
  assert.equal(origin.state.ledger.size, countedCount);
  pool.command({ type: 'resume' });
  assert.deepEqual(exchange.take(pool, id), { kind: 'refused' });
});

test('a message that the pool refused is sent at once if the session is open when the pool shop refuses, also after ten minutes', async () => {
  const exchange = await PoolExchange.start(1, 1);
  const { origin } = exchange;
  const id = origin.send(RECIPIENT, 'hello', poolShop(0));
  exchange.connectOrigin();
  // The pool shop may have it until it answers.
  origin.pass(11 * MINUTE_MS);
  assert.deepEqual([ownIds(origin), origin.effectsOf('requeue').length], [[], 0]);
  origin.command({ type: 'pool.answered', messageId: id, pool: poolShop(0), answer: { kind: 'refused' } });
  assert.equal(origin.effectsOf('requeue').length, 1);
  origin.pass(2_000);
  assert.equal(origin.effectsOf('requeue').length, 2);
  await origin.ask({ type: 'requeue', messageId: id });
  assert.deepEqual(ownIds(origin), [id]);
});

test('a message in its own shop’s queue again is only there after a restart, in the order of acceptance', async () => {
  const { exchange, origin, id } = await refused();
  exchange.connectOrigin();
  origin.nowMs += 1_000;
  const others = [1, 2].map((index) => origin.send(`+3361234900${index}`));
  origin.pass(1_000);
  await origin.ask({ type: 'requeue', messageId: id });
  assert.deepEqual(ownIds(origin), [others[0], id, others[1]]);
  const next = await origin.successor('store');
  assert.deepEqual([next.state.pooled, ownIds(next)], [[], [id, ...others]]);
});

test('a message stays with the pool if another pool shop agreed, or the session closed, before it was read', async () => {
  for (const before of ['found', 'closed'] as const) {
    const { exchange, origin, id } = await refused();
    exchange.connectOrigin();
    origin.pass(2_000);
    assert.equal(origin.effectsOf('requeue').at(-1)?.messageId, id);
    if (before === 'found') origin.command({ type: 'pool.found', messageId: id, pool: poolShop(1) });
    else origin.command({ type: 'disconnect' });
    await origin.ask({ type: 'requeue', messageId: id });
    assert.deepEqual([origin.state.pooled.length, ownIds(origin)], [1, []], before);
  }
});

test('a pool shop that agrees too late is not asked to take it', async () => {
  const { exchange, origin, id } = await refused();
  exchange.connectOrigin();
  await origin.ask({ type: 'requeue', messageId: id });
  const askedCount = origin.effectsOf('ask_pool').length;
  origin.command({ type: 'pool.found', messageId: id, pool: poolShop(1) });
  origin.pass(MINUTE_MS);
  assert.equal(origin.effectsOf('ask_pool').length, askedCount);
});

test('a message that the pool refused is rejected if its recipient opted out meanwhile', async () => {
  const { exchange, origin, id } = await refused();
  exchange.connectOrigin();
  const stop = { wireId: 'w', from: RECIPIENT, text: 'STOP', atMs: origin.nowMs, token: 't' };
  origin.session({ type: 'session.inbound', ...stop });
  await origin.ask({ type: 'requeue', messageId: id });
  await origin.ask({ type: 'first_look', messageId: id });
  assert.equal(origin.statusOf(id), 'rejected RECIPIENT_OPTED_OUT');
});

test('a message in its own shop’s queue again counts in the network’s quota of new chats if its recipient never wrote', async () => {
  const { exchange, origin, id } = await refused();
  exchange.connectOrigin();
  const newChats = { quota: 3, used: 1, warning: null, endsAtMs: origin.nowMs + DAY_MS };
  origin.session({ type: 'session.limits', newChats });
  assert.equal(origin.state.limits.newChats?.accepted, 0);
  await origin.ask({ type: 'requeue', messageId: id });
  assert.equal(origin.state.limits.newChats?.accepted, 1);
});

test('a message in its own shop’s queue again can be cancelled, and counts in no window then', async () => {
  const { exchange, origin, id } = await refused();
  exchange.connectOrigin();
  await origin.ask({ type: 'requeue', messageId: id });
  await origin.ask({ type: 'cancel', messageId: id });
  assert.deepEqual([origin.statusOf(id), origin.state.ledger.size], ['failed CANCELLED', 0]);
});

test('a message that the pool refused expires unsent once it is older than a day', async () => {
  const exchange = await PoolExchange.start(1, 1);
  const { origin } = exchange;
  const [pool] = exchange.pools;
  assert.ok(pool);
  const id = origin.send(RECIPIENT, 'hello', poolShop(0));
  exchange.connectOrigin();
  origin.nowMs += DAY_MS;
  origin.command({ type: 'pool.answered', messageId: id, pool: poolShop(0), answer: { kind: 'refused' } });
  await origin.ask({ type: 'requeue', messageId: id });
  assert.deepEqual([origin.statusOf(id), origin.effectsOf('first_look').length], ['failed EXPIRED', 0]);
});

test('a message that the pool refused after a day expires at once, also if its shop is paused', async () => {
  const exchange = await PoolExchange.start(1, 1);
  const { origin } = exchange;
  const id = origin.send(RECIPIENT, 'hello', poolShop(0));
  exchange.connectOrigin();
  origin.command({ type: 'pause' });
  origin.nowMs += DAY_MS;
  origin.command({ type: 'pool.answered', messageId: id, pool: poolShop(0), answer: { kind: 'refused' } });
  await origin.ask({ type: 'requeue', messageId: id });
  assert.deepEqual([origin.statusOf(id), ownIds(origin)], ['failed EXPIRED', []]);
});
