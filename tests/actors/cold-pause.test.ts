/** A refusal 463 means that the network wants no more messages to strangers (docs/chat-client.md, Sending). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeShop } from '../../actors/shop/turn/describe-shop.ts';
import { PoolExchange, poolShop } from './pool-exchange.ts';
import { ShopHarness } from './shop-harness.ts';

const DAY_MS = 86_400_000;

/** A connected shop to which the network has just said that it writes to too many strangers. */
async function barred(): Promise<{ readonly shop: ShopHarness; readonly waiting: string }> {
  const shop = await ShopHarness.connected();
  const refused = shop.sendToStranger('+33699990001');
  const waiting = shop.sendToStranger('+33699990002');
  assert.ok(typeof refused === 'string' && typeof waiting === 'string');
  shop.toWire(refused, 'nothing');
  shop.outcome(refused, { kind: 'refused', code: '463' });
  assert.equal(shop.statusOf(refused), 'failed SEND_REFUSED');
  return { shop, waiting };
}

/** A message that waits to be handed to a shop of the pool. */
async function carried(): Promise<{ readonly exchange: PoolExchange; readonly id: string }> {
  const exchange = await PoolExchange.start(1, 1);
  return { exchange, id: exchange.origin.send('+33612345678', 'hello', poolShop(0)) };
}

test('after a 463 strangers are refused with the seconds that are left, and everybody else is written to', async () => {
  const { shop } = await barred();
  shop.pass(60_000);
  const refusal = shop.sendToStranger('+33699990003');
  assert.ok(typeof refusal !== 'string');
  assert.deepEqual([refusal.code, refusal.retryAfterSeconds], ['COLD_RECIPIENT_CAP_REACHED', 86_400 - 60]);
  assert.match(shop.send('+33600000010'), /^[0-9a-f]{24}$/);
});

test('a message to a stranger that waited is rejected before the wire; one to a customer goes out', async () => {
  const { shop, waiting } = await barred();
  const known = shop.send('+33600000010');
  shop.pass(20_000);
  shop.toWire(waiting, 'nothing');
  assert.equal(shop.statusOf(waiting), 'rejected COLD_RECIPIENT_CAP_REACHED');
  shop.toWire(known);
  assert.equal(shop.statusOf(known), 'sending');
});

test('to a shop of the pool whoever it carries a message to is a stranger, unless they wrote to it', async () => {
  for (const [wrote, status] of [
    ['nothing', 'rejected COLD_RECIPIENT_CAP_REACHED'],
    ['hello', 'sending'],
  ] as const) {
    const { exchange, id } = await carried();
    const [pool] = exchange.pools;
    assert.ok(pool);
    const own = pool.sendToStranger('+33699990001');
    assert.ok(typeof own === 'string');
    assert.equal(exchange.take(pool, id).kind, 'taken');
    pool.toWire(own, 'nothing');
    pool.outcome(own, { kind: 'refused', code: '463' });
    pool.pass(20_000);
    pool.toWire(id, wrote);
    assert.equal(pool.statusOf(id), status);
  }
});

test('who wrote in the meantime is no stranger any more', async () => {
  const { shop, waiting } = await barred();
  shop.pass(20_000);
  shop.toWire(waiting, 'hello');
  assert.equal(shop.statusOf(waiting), 'sending');
});

test('other refusals of the network bar nobody', async () => {
  const shop = await ShopHarness.connected();
  const id = shop.sendToStranger('+33699990001');
  assert.ok(typeof id === 'string');
  shop.toWire(id, 'nothing');
  shop.outcome(id, { kind: 'refused', code: '479' });
  assert.equal(typeof shop.sendToStranger('+33699990002'), 'string');
});

test('it is over after a day, by a timer, and shown until then', async () => {
  const { shop, waiting } = await barred();
  const endsAtMs = shop.nowMs + DAY_MS;
  shop.pass(20_000);
  shop.toWire(waiting, 'nothing');
  const shown = () => (describeShop(shop.state).pacing as { coldPausedUntilMs?: number }).coldPausedUntilMs;
  assert.equal(shown(), endsAtMs);
  shop.pass(endsAtMs - shop.nowMs - 1);
  assert.equal(typeof shop.sendToStranger('+33699990003'), 'object');
  shop.pass(1);
  assert.equal(shown(), null);
  assert.equal(typeof shop.sendToStranger('+33699990003'), 'string');
});

test('it is stored with the turn that heard of it, so a restart changes nothing', async () => {
  const { shop } = await barred();
  const until = shop.state.pacing.context.coldPausedUntilMs;
  const { state: loaded } = await shop.successor('store');
  assert.equal(loaded.pacing.context.coldPausedUntilMs, until);
  assert.equal(typeof until, 'number');
});
