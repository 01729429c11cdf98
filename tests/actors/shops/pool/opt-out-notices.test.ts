import assert from 'node:assert/strict';
import { test } from 'node:test';
import { carriedForWrites, originsOf } from '../../../../actors/shops/records/carried-for.ts';
import { shopKeys } from '../../../../actors/shops/records/shop-keys.ts';
import { ShopHarness } from '../shop-harness.ts';

const ORIGIN = { tenantId: '65f0000000000000000000cc', shopId: '65f0000000000000000000c1' };
const PERSON = '+33612345678';

/** A shop of the pool that hears an opt-out of somebody it wrote to for another shop. */
async function told(): Promise<ShopHarness> {
  const pool = await ShopHarness.connected();
  const message = { token: 't', wireId: 'W1', from: PERSON, text: 'STOP', atMs: pool.nowMs };
  const received = { writtenBy: PERSON, optsOut: true, carriedFor: [ORIGIN] };
  pool.session({ type: 'session.inbound', ...message }, { received });
  return pool;
}

test('the pool notifies a shop of an opt-out until the shop answers, even after a restart', async () => {
  const pool = await told();
  assert.deepEqual(
    pool
      .effectsOf('report_opt_out')
      .map(({ notice: { origin, from, wireId } }) => ({ origin, from, wireId })),
    [{ origin: ORIGIN, from: PERSON, wireId: 'W1' }],
  );
  pool.pass(60_000);
  assert.ok(pool.effectsOf('report_opt_out').length > 3);
  const next = await pool.successor('store');
  next.pass(1_000);
  const again = next.effectsOf('report_opt_out');
  assert.ok(again.length > 0, 'the next process tells it at once');
  const notice = again.at(-1)?.notice;
  assert.ok(notice);
  next.command({ type: 'pool.opt_out_noted', notice: { ...notice, wireId: 'an older one' } });
  next.pass(60_000);
  const countBefore = next.effectsOf('report_opt_out').length;
  assert.ok(countBefore > again.length, 'an answer to an older notice ends nothing');
  next.command({ type: 'pool.opt_out_noted', notice });
  next.pass(60_000);
  assert.equal(next.effectsOf('report_opt_out').length, countBefore);
  assert.equal((await next.successor('store')).state.optOutNotices.length, 0);
});

test('an opt-out at the pool counts once at the shop, which asks the pool about its messages there', async () => {
  const shop = await ShopHarness.connected();
  shop.command({ type: 'disconnect' });
  shop.send(PERSON, 'hello', { tenantId: '65f0000000000000000000aa', shopId: '65f0000000000000000000b0' });
  const askedCount = shop.effectsOf('ask_pool').length;
  const optOut = { type: 'pool.opt_out', from: PERSON, wireId: 'W1', atMs: shop.nowMs } as const;
  shop.command(optOut, { sender: { writtenBy: PERSON } });
  const stored = JSON.parse(String(shop.redis.run(['HGET', shop.state.keys.writers, PERSON])));
  assert.equal(stored.optedOut, true);
  shop.pass(1_000);
  assert.ok(shop.effectsOf('ask_pool').length > askedCount);
  const writes = shop.writes.length;
  shop.command(optOut, { sender: { writtenBy: PERSON, writer: stored } });
  assert.equal(shop.writes.length, writes, 'told again it changes nothing');
});

test('a message whose sender was not looked up is not confirmed: a STOP would count for no one', async () => {
  const shop = await ShopHarness.connected();
  const { generation } = shop.state.channel.context;
  const message = { from: PERSON, wireId: 'W1', atMs: shop.nowMs };
  const event = { type: 'session.inbound', generation, token: 't', text: 'STOP', ...message } as const;
  const atPool = { type: 'pool.opt_out', ...message } as const;
  assert.throws(() => shop.decideBy(event, {}), TypeError);
  assert.throws(() => shop.decideBy(atPool, {}), TypeError);
});

test('two forms of a number are one person; other numbers are not', () => {
  const keys = shopKeys(0, ORIGIN.shopId);
  const member = (address: string): string => {
    const [zadd] = carriedForWrites(keys, { addresses: [address], origin: ORIGIN, nowMs: 1 });
    return String(zadd?.at(-1));
  };
  const carried = [member('+5531996348800'), member('111@lid'), member('+33612345679')];
  assert.deepEqual(originsOf(carried, '+553196348800'), [ORIGIN]);
  assert.deepEqual(originsOf(carried, '111@lid'), [ORIGIN]);
  assert.deepEqual(originsOf(carried, PERSON), []);
});
