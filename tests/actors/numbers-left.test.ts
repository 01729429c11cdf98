/** What an erased shop leaves of its number is written once, before anything goes, and forgotten after 30 days. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readArchive } from '../../actors/shop/record/number-archive.ts';
import { numbersLeft } from '../../actors/shop/record/numbers-left.ts';
import { tenantKeys } from '../../actors/tenant/tenant-keys.ts';
import { ShopHarness, storeOf, vault } from './shop-harness.ts';

const DAY_MS = 86_400_000;
const PHONE = '33600000001';

async function connectedShop(deleted: boolean): Promise<ShopHarness> {
  const shop = await ShopHarness.connected();
  const { record } = tenantKeys(shop.state.shop.tenantId);
  shop.redis.run(['SET', record, JSON.stringify({ deleted })]);
  shop.send();
  return shop;
}

async function leave(shop: ShopHarness): Promise<number> {
  const { nowMs, state, redis } = shop;
  const { writes } = await numbersLeft(state.shop, { store: storeOf(redis), vault, nowMs });
  for (const write of writes) redis.run(write);
  return writes.length;
}

test('an erasure that stopped half way and is tried again keeps what was written first', async () => {
  const shop = await connectedShop(false);
  assert.ok((await leave(shop)) > 0);
  // What the shop had sent is gone when the erasure is tried again; its own record goes last.
  shop.redis.run(['DEL', shop.state.keys.accepted]);
  assert.equal(await leave(shop), 0);
  const number = { tenantId: shop.state.shop.tenantId, phone: PHONE };
  const readAt = (nowMs: number) => readArchive(number, vault, { store: storeOf(shop.redis), nowMs });
  const { past } = (await readAt(shop.nowMs)) ?? {};
  assert.equal(past?.entries.length, 1);
  assert.equal(past.warmupSinceMs, shop.nowMs - 20 * DAY_MS);
  assert.ok(await readAt(shop.nowMs + 30 * DAY_MS));
  assert.equal(await readAt(shop.nowMs + 30 * DAY_MS + 1), undefined);
});

test('nothing is kept of a tenant that is erased', async () => {
  const shop = await connectedShop(true);
  await leave(shop);
  const { numbersLeft: index, numbers } = tenantKeys(shop.state.shop.tenantId);
  assert.deepEqual(shop.redis.run(['SMEMBERS', index]), []);
  assert.deepEqual(shop.redis.run(['HGETALL', numbers]), []);
});
