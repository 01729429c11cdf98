import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attributedText } from '../../../../actors/shops/texts/attributed-text.ts';
import { MINUTE_MS } from '../../../../runtime/durations.ts';
import { seededRandom } from '../../../testbed/seeded-random.ts';
import { testEnvironment } from '../../../testbed/test-environment.ts';
import { ShopHarness } from '../shop-harness.ts';
import { PoolExchange, poolShop } from './pool-exchange.ts';

const { seed, runs = 300 } = testEnvironment();
const RECIPIENT = '+33612345678';

const sends = (shops: readonly ShopHarness[], messageId: string): number =>
  shops.flatMap((shop) => shop.effectsOf('prepare')).filter(({ order }) => order.messageId === messageId)
    .length;

async function pooled(poolCount = 1): Promise<{ exchange: PoolExchange; id: string }> {
  const exchange = await PoolExchange.start(1, poolCount);
  return { exchange, id: exchange.origin.send(RECIPIENT, 'hello', poolShop(0)) };
}

test('the line with the shop’s name ends the text, or is the whole text of an attachment, and no name can break it', () => {
  const names = { shopName: 'Corner\nbakery', platformName: 'Market  Square' };
  assert.equal(attributedText('Hi', names), 'Hi\n\nSent for Corner bakery via Market Square');
  assert.equal(attributedText(null, names), 'Sent for Corner bakery via Market Square');
});

test('only a shop that once had a session uses the pool, and only when the call asks for it', async () => {
  const never = await ShopHarness.start();
  assert.equal(never.send(RECIPIENT, 'hello', 'ask'), 'MSGAPP_NOT_CONNECTED');
  assert.equal(never.effectsOf('ask_pool').length, 0);
  const { origin } = await PoolExchange.start(1, 0);
  assert.equal(origin.send(RECIPIENT, 'hello'), 'MSGAPP_NOT_CONNECTED');
  const tooLong = 'x'.repeat(4_096 - 'Sent for Bakery via Market Square'.length - 1);
  assert.equal(origin.send(RECIPIENT, tooLong, 'ask'), 'MESSAGE_TOO_LONG');
  assert.match(origin.send(RECIPIENT, tooLong.slice(1), poolShop(0)), /^[0-9a-f]{24}$/);
});

test('the pool sends nothing for a shop that operators paused, until they resume it', async () => {
  const { origin } = await PoolExchange.start(1, 0);
  origin.command({ type: 'pause' });
  assert.equal(origin.send(RECIPIENT, 'hello', 'ask'), 'MSGAPP_NOT_CONNECTED');
  assert.equal(origin.send(RECIPIENT, 'hello', poolShop(0)), 'MSGAPP_NOT_CONNECTED');
  origin.command({ type: 'resume' });
  assert.match(origin.send(RECIPIENT, 'hello', poolShop(0)), /^[0-9a-f]{24}$/);
});

test('a connected shop sends by itself even if the call asks for the pool', async () => {
  const shop = await ShopHarness.connected();
  shop.send(RECIPIENT, 'hello', 'ask');
  assert.equal(shop.effectsOf('first_look').length, 1);
});

test('a message at the pool stays out of its shop’s own queue when the session comes back', async () => {
  const { exchange, id } = await pooled();
  const { origin } = exchange;
  origin.command({ type: 'connect' });
  origin.session({ type: 'session.connected', phone: '33600000001', pairedAtMs: 1 });
  assert.equal(origin.effectsOf('first_look').length, 0);
  assert.equal(origin.statusOf(id), 'queued');
});

test('a pool shop takes a message once, paces and counts it like its own, and reports its end', async () => {
  const { exchange, id } = await pooled();
  const [pool] = exchange.pools;
  assert.ok(pool);
  assert.deepEqual(
    [exchange.take(pool, id), exchange.take(pool, id)],
    [{ kind: 'taken' }, { kind: 'taken' }],
  );
  assert.deepEqual([pool.effectsOf('first_look').length, pool.state.ledger.size], [1, 1]);
  exchange.work(pool);
  exchange.work(pool);
  assert.equal(sends(exchange.pools, id), 1);
  assert.equal(exchange.record(pool, id)?.body, undefined);
  assert.equal(exchange.take(pool, id, true).kind, 'ended');
  while (exchange.deliverOne());
  assert.equal(exchange.origin.statusOf(id), 'sent');
  assert.equal(exchange.origin.state.pooled.length, 0);
});

test('a message on the wire when the pool shop restarts fails with BOT_RESTARTED at its origin', async () => {
  const { exchange, id } = await pooled();
  const [pool] = exchange.pools;
  assert.ok(pool);
  exchange.deliverOne();
  exchange.work(pool);
  pool.restart();
  while (exchange.deliverOne());
  assert.equal(exchange.origin.statusOf(id), 'failed BOT_RESTARTED');
});

test('a pool shop that refused a message never takes it later; another one is found, or none for 10 minutes', async () => {
  const { exchange, id } = await pooled(2);
  const [first, secondHarness] = exchange.pools;
  assert.ok(first && secondHarness);
  first.command({ type: 'pause' });
  assert.deepEqual(exchange.take(first, id), { kind: 'refused' });
  first.command({ type: 'resume' });
  assert.deepEqual(exchange.take(first, id), { kind: 'refused' });
  first.command({ type: 'pause' });
  while (exchange.deliverOne());
  exchange.work(secondHarness);
  exchange.work(secondHarness);
  while (exchange.deliverOne());
  assert.equal(exchange.origin.statusOf(id), 'sent');
  assert.deepEqual([sends([first], id), sends([secondHarness], id)], [0, 1]);

  const alone = await pooled();
  alone.exchange.pools[0]?.command({ type: 'pause' });
  while (alone.exchange.deliverOne());
  alone.exchange.origin.pass(9 * MINUTE_MS);
  assert.equal(alone.exchange.origin.statusOf(alone.id), 'queued');
  alone.exchange.origin.pass(2 * MINUTE_MS);
  assert.equal(alone.exchange.origin.statusOf(alone.id), 'failed MSGAPP_NOT_CONNECTED');
});

test('a message that was taken back is not sent, also if a late request asks for it', async () => {
  const { exchange, id } = await pooled();
  const [pool] = exchange.pools;
  assert.ok(pool);
  const { createdAtMs } = exchange.body(id);
  const answer = exchange.ask(pool, { type: 'pool.withdraw', messageId: id, createdAtMs });
  assert.equal(answer.kind === 'ended' && answer.fate.reason, 'RECIPIENT_OPTED_OUT');
  assert.equal(exchange.take(pool, id).kind, 'ended');
  assert.equal(pool.effectsOf('first_look').length, 0);
});

test('an opt-out at the origin withdraws the messages that wait at the pool', async () => {
  const { exchange, id } = await pooled();
  const [pool] = exchange.pools;
  assert.ok(pool);
  exchange.take(pool, id);
  const { origin } = exchange;
  const stop = { wireId: 'w', from: RECIPIENT, text: 'STOP', atMs: origin.nowMs, token: 't' };
  origin.session({ type: 'session.inbound', ...stop });
  const askedCount = origin.effectsOf('ask_pool').length;
  origin.pass(0);
  assert.equal(origin.effectsOf('ask_pool').length, askedCount + 1);
  const { createdAtMs } = exchange.body(id);
  exchange.ask(pool, { type: 'pool.withdraw', messageId: id, createdAtMs });
  while (exchange.deliverOne());
  assert.equal(origin.statusOf(id), 'rejected RECIPIENT_OPTED_OUT');
});

for (const stage of ['preparing', 'sending'] as const) {
  test(`a message that the pool is preparing is withdrawn and recalled until it is sending: ${stage}`, async () => {
    const { exchange, id } = await pooled();
    const [pool] = exchange.pools;
    assert.ok(pool);
    exchange.take(pool, id);
    const dispatch = { body: exchange.body(id), writer: undefined, audience: [] };
    pool.command({ type: 'first_look', messageId: id }, { dispatch });
    assert.equal(pool.effectsOf('prepare').length, 1);
    const { createdAtMs } = exchange.body(id);
    const withdraw = () => exchange.ask(pool, { type: 'pool.withdraw', messageId: id, createdAtMs });
    if (stage === 'sending') {
      pool.session({ type: 'session.prepared', messageId: id, writes: [] }, { dispatch });
      assert.equal(withdraw().kind, 'taken');
      assert.deepEqual([pool.effectsOf('recall').length, pool.effectsOf('transmit').length], [0, 1]);
      return;
    }
    assert.equal(withdraw().kind, 'ended');
    assert.deepEqual(pool.idsOf('recall'), [id]);
    pool.session({ type: 'session.prepared', messageId: id, writes: [] }, { dispatch });
    assert.equal(pool.effectsOf('transmit').length, 0);
  });
}

test('a message that came back to the pool before the origin asked again does not start again', async () => {
  const { exchange, id } = await pooled();
  const [pool] = exchange.pools;
  assert.ok(pool);
  exchange.take(pool, id);
  pool.toWire(id);
  const { createdAtMs } = exchange.body(id);
  assert.equal(exchange.ask(pool, { type: 'pool.withdraw', messageId: id, createdAtMs }).kind, 'taken');
  pool.outcome(id, { kind: 'not_sent' });
  // Its turn comes again. No recipient opted out of this shop, and the origin did not ask again.
  pool.pass(MINUTE_MS);
  assert.equal(pool.state.currentMessage?.messageId, id);
  await pool.ask({ type: 'first_look', messageId: id });
  assert.equal(pool.effectsOf('prepare').length, 1);
  while (exchange.deliverOne());
  assert.equal(exchange.origin.statusOf(id), 'rejected RECIPIENT_OPTED_OUT');
});

test('a pool shop that lost its record of a taken message does not send it again', async () => {
  const { exchange, id } = await pooled();
  const [pool] = exchange.pools;
  assert.ok(pool);
  exchange.deliverOne();
  exchange.deliverOne();
  pool.redis.values.clear();
  assert.deepEqual(exchange.take(pool, id, true), { kind: 'lost' });
});

test(`with lost, doubled and late messages between shops and restarts nothing is sent twice or forgotten (seed ${seed})`, async () => {
  const random = seededRandom(seed);
  let own = 0;
  for (let run = 0; run < runs; run += 1) {
    const exchange = await PoolExchange.start(Math.floor(random() * 2 ** 31), 3);
    const { origin, pools } = exchange;
    const id = origin.send(RECIPIENT, 'hello', poolShop(0));
    exchange.trouble = 0.3;
    for (let step = 0; step < 60; step += 1) {
      const pool = pools[Math.floor(random() * pools.length)];
      assert.ok(pool);
      const chance = random();
      if (chance < 0.5) exchange.deliverOne();
      else if (chance < 0.65) exchange.work(pool);
      else if (chance < 0.69) exchange.work(origin);
      else if (chance < 0.7) exchange.connectOrigin();
      else if (chance < 0.85) exchange.pass(Math.floor(random() * 5_000));
      else if (chance < 0.9) origin.restart();
      else if (chance < 0.95) restartConnected(pool);
      else pool.command({ type: random() < 0.5 ? 'pause' : 'resume' });
    }
    exchange.trouble = 0;
    for (const pool of pools) pool.command({ type: 'resume' });
    for (let round = 0; round < 200 && origin.statusOf(id) === 'queued'; round += 1) {
      for (const shop of [origin, ...pools]) exchange.work(shop);
      while (exchange.deliverOne());
      exchange.pass(5_000);
    }
    const status = origin.statusOf(id);
    const sent = sends([origin, ...pools], id);
    const told = `run ${run}: ${status} after ${sent} sends`;
    assert.deepEqual([origin.state.pooled, origin.state.queue], [[], []], told);
    own += sends([origin], id);
    if (status === 'sent' || status === 'failed BOT_RESTARTED') assert.equal(sent, 1, told);
    else assert.deepEqual([status, sent], ['failed MSGAPP_NOT_CONNECTED', 0], told);
  }
  assert.ok(own > 0, 'no run had its message sent by its own shop');
});

function restartConnected(pool: ShopHarness): void {
  pool.restart();
  pool.session({ type: 'session.connected', phone: '33600000002', pairedAtMs: 1 });
}

test('at a pool shop neither its own message that is put back nor an older carried one stays queued over a day', async () => {
  const exchange = await PoolExchange.start(1, 1);
  const [pool] = exchange.pools;
  assert.ok(pool);
  const older = exchange.origin.send(RECIPIENT, 'hello', poolShop(0));
  exchange.pass(8 * MINUTE_MS);
  const own = pool.send('+33600000010');
  pool.toWire(own);
  assert.equal(exchange.take(pool, older).kind, 'taken');
  pool.outcome(own, { kind: 'not_sent' });
  pool.command({ type: 'pause' });
  pool.pass(24 * 60 * MINUTE_MS - 8 * MINUTE_MS);
  assert.deepEqual([pool.statusOf(older), pool.statusOf(own)], ['failed EXPIRED', 'queued']);
});
