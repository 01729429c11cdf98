/** A pool shop offers no more than it can send. An offer counts until its message arrives, or for some seconds. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OFFER_COUNTS_MS } from '../../../../actors/shops/turns/pool/offered-sends.ts';
import { resolveSettings } from '../../../../policy/tenant-settings.ts';
import { DAY_MS, HOUR_MS } from '../../../../runtime/durations.ts';
import { customer } from '../../../testbed/customer.ts';
import { ShopHarness } from '../shop-harness.ts';
import { PoolExchange, poolShop } from './pool-exchange.ts';

const settings = resolveSettings({});
/** The messages of an hour of a shop that is new. */
const HOURLY_CAP = 10;

/** Returns a pool shop that was just paired. */
async function newPool(): Promise<ShopHarness> {
  const pool = await ShopHarness.start(2, poolShop(0));
  pool.command({ type: 'connect' });
  pool.session({ type: 'session.connected', phone: '33600000002', pairedAtMs: pool.nowMs });
  return pool;
}

/** Offers a message to a pool shop. Returns the kind of its answer. */
function offered(
  pool: ShopHarness,
  { to, text = `hello ${to}`, isDeclared = false }: { to: string; text?: string; isDeclared?: boolean },
): string {
  const recipientClass = isDeclared ? 'declared' : 'known';
  const offer = { to, text, mediaUrl: null, recipientClass, messageId: null } as const;
  const facts = { record: undefined, writer: undefined };
  const answer = pool.command({ type: 'pool.offer', offer, settings, isPoolOpen: true }, facts);
  return (answer as { kind: string }).kind;
}

/** Offers messages to that many other customers. Returns how many it would send. */
function willing(pool: ShopHarness, offers: number, first = 0): number {
  const answers = Array.from({ length: offers }, (_, index) =>
    offered(pool, { to: customer(first + index) }),
  );
  return answers.filter((kind) => kind === 'willing').length;
}

test('offers at the same moment are willing up to the hourly cap, and lapse', async () => {
  const pool = await newPool();
  assert.equal(willing(pool, 14), HOURLY_CAP);
  pool.pass(OFFER_COUNTS_MS - 1);
  assert.equal(willing(pool, 1, 20), 0);
  pool.pass(1);
  assert.equal(willing(pool, 14, 40), HOURLY_CAP);
});

test('offers of another time do not count after the clock was set back', async () => {
  const pool = await newPool();
  assert.equal(willing(pool, 14), HOURLY_CAP);
  pool.nowMs -= HOUR_MS;
  assert.equal(willing(pool, 14, 20), HOURLY_CAP);
});

test('a message that arrives counts once, and all that were offered are taken', async () => {
  const exchange = await PoolExchange.start(1, 1);
  const [pool] = exchange.pools;
  assert.ok(pool);
  const perHour = Math.floor(250 / 6);
  for (let index = 0; index < perHour; index += 1) {
    const text = `hello ${index}`;
    const id = exchange.origin.send(customer(index), text, poolShop(0));
    const inTransport = exchange.body(id);
    assert.equal(offered(pool, { to: customer(index), text: inTransport.text ?? '' }), 'willing');
    assert.equal(exchange.take(pool, id).kind, 'taken', text);
  }
  assert.deepEqual([pool.state.ledger.size, pool.state.offeredSends], [perHour, []]);
  assert.equal(willing(pool, 1, perHour), 0);
});

test('one recipient gets one offer, and the same message offered once more counts once', async () => {
  const pool = await newPool();
  const to = customer(0);
  assert.equal(offered(pool, { to }), 'willing');
  assert.equal(offered(pool, { to, text: 'another text' }), 'refused');
  for (let times = 0; times < 2 * HOURLY_CAP; times += 1) assert.equal(offered(pool, { to }), 'willing');
  assert.equal(willing(pool, HOURLY_CAP, 1), HOURLY_CAP - 1);
});

test('offers to people who never wrote count in the network’s quota of new chats', async () => {
  const pool = await newPool();
  const newChats = { quota: 3, used: 1, warning: null, endsAtMs: pool.nowMs + 10 * DAY_MS };
  pool.session({ type: 'session.limits', newChats });
  const answers = [0, 1, 2].map((index) => offered(pool, { to: customer(index), isDeclared: true }));
  assert.deepEqual(answers, ['willing', 'willing', 'refused']);
});

test('a refused offer counts nothing, and a restart of the shop loses only what was offered', async () => {
  const pool = await newPool();
  pool.command({ type: 'pause' });
  assert.equal(willing(pool, 14), 0);
  pool.command({ type: 'resume' });
  assert.equal(willing(pool, 14), HOURLY_CAP);
  assert.deepEqual((await pool.successor('store')).state.offeredSends, []);
});
