/** An erased shop's data about its number is written once, before anything is deleted, and forgotten after 30 days. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ShopEraser, type ShopEraserOptions } from '../../../../actors/shops/erasure/shop-eraser.ts';
import { archiveWrites, readArchive } from '../../../../actors/shops/number-past/number-archive.ts';
import { readPast } from '../../../../actors/shops/number-past/number-past.ts';
import { numberUseRead, numberUseWrite } from '../../../../actors/shops/number-past/number-use.ts';
import { numbersLeft } from '../../../../actors/shops/number-past/numbers-left.ts';
import { readNumber } from '../../../../actors/shops/turns/number/number-facts.ts';
import { tenantKeys } from '../../../../actors/tenants/tenant-keys.ts';
import { DAY_MS } from '../../../../runtime/durations.ts';
import type { Write } from '../../../../runtime/store.ts';
import { ShopHarness, vault } from '../shop-harness.ts';
import { storeOf } from '../store-of.ts';

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

test('an erasure that stopped half way and is repeated keeps the first writes', async () => {
  const shop = await connectedShop(false);
  for (const [from, text] of [
    ['+33611110001', 'STOP'],
    ['+33611110002', 'Hello'],
  ] as const) {
    const atMs = shop.nowMs;
    shop.session({ type: 'session.inbound', wireId: `I${from}`, from, text, atMs, token: 't' });
  }
  assert.ok((await leave(shop)) > 0);
  // The shop's sent messages are gone when the erasure is tried again. Its own record is deleted last.
  shop.redis.run(['DEL', shop.state.keys.accepted]);
  assert.equal(await leave(shop), 0);
  const number = { tenantId: shop.state.shop.tenantId, phone: PHONE };
  const readAt = (nowMs: number) => readArchive(number, vault, { store: storeOf(shop.redis), nowMs });
  const { past } = (await readAt(shop.nowMs)) ?? {};
  assert.deepEqual(
    past?.entries.map(({ subject, fingerprint }) => [subject, fingerprint]),
    [[0, { high: 0, low: 0 }]],
    'neither the recipient nor the text',
  );
  assert.deepEqual([...past.writers.keys()], ['+33611110001'], 'nobody who wrote but opted out');
  assert.equal(past.warmupSinceMs, shop.nowMs - 20 * DAY_MS);
  assert.ok(await readAt(shop.nowMs + 30 * DAY_MS));
  assert.equal(await readAt(shop.nowMs + 30 * DAY_MS + 1), undefined);
});

test('no number of an erased tenant is kept', async () => {
  const shop = await connectedShop(true);
  await leave(shop);
  const { numbersLeft: index, numbers } = tenantKeys(shop.state.shop.tenantId);
  assert.deepEqual(shop.redis.run(['SMEMBERS', index]), []);
  assert.deepEqual(shop.redis.run(['HGETALL', numbers]), []);
});

test('a number that another shop connects during the erasure belongs to that shop', async () => {
  const shop = await connectedShop(false);
  const { nowMs, redis } = shop;
  const { tenantId } = shop.state.shop;
  const { writes } = await numbersLeft(shop.state.shop, { store: storeOf(redis), vault, nowMs });
  const takenWrite = numberUseWrite(tenantId, PHONE, { shopId: '66b1f0a2c3d4e5f6071829ff' });
  redis.run(takenWrite);
  for (const write of writes) redis.run(write);
  assert.equal(redis.run(numberUseRead(tenantId, PHONE)), takenWrite.at(-1));
});

test('nothing is kept of a number that another shop connects just before it is left, and the tenant is known to have it', async () => {
  const shop = await connectedShop(false);
  const { redis, state } = shop;
  const { tenantId } = state.shop;
  const nothing = async (): Promise<void> => undefined;
  const said: string[] = [];
  let isFirst = true;
  const store = {
    ...storeOf(redis),
    append: nothing,
    async commit(_shard: number, writes: readonly Write[]) {
      if (isFirst) redis.run(numberUseWrite(tenantId, PHONE, { shopId: '66b1f0a2c3d4e5f6071829ff' }));
      isFirst = false;
      for (const write of writes) redis.run(write);
    },
  };
  const eraser = new ShopEraser({
    store,
    vault,
    clock: { wallMs: () => shop.nowMs, after: () => ({ cancel: () => undefined }) },
    actors: { passivate: nothing, ask: nothing, owns: () => true },
    deadLetters: { forget: nothing },
    host: { erase: nothing },
    poolSessions: { forget: nothing },
    sharedNumbers: {
      forget: async (_tenantId: string, phones: readonly string[]) => void said.push(`forget ${phones}`),
      remember: (_shop: unknown, phone: string) => void said.push(`in use ${phone}`),
    },
  } as unknown as ShopEraserOptions);
  await eraser.erase({ ...state.shop, isTenantErased: true });
  assert.deepEqual(said, [`forget ${PHONE}`, `in use ${PHONE}`]);
  const number = { tenantId, phone: PHONE };
  assert.equal(await readArchive(number, vault, { store: storeOf(redis), nowMs: shop.nowMs }), undefined);
  assert.deepEqual(redis.run(['SMEMBERS', tenantKeys(tenantId).numbersLeft]), []);
});

test('a shop’s own sends are not counted again if an erased shop had taken them over', async () => {
  const shop = await connectedShop(false);
  shop.send('+33611110002');
  const { nowMs, state, redis } = shop;
  const store = storeOf(redis);
  const { tenantId, shopId } = state.shop;
  // Another shop had the number since, with these sends and another one, and is erased.
  const past = await readPast({ shopId }, state, { shard: state.shard, store, nowMs });
  assert.ok(past);
  const [entry] = past.entries;
  assert.ok(entry);
  const later = { ...entry, atMs: entry.atMs + 1, subject: 33_611_110_003 };
  const number = { tenantId, phone: PHONE };
  const archived = archiveWrites(number, { ...past, entries: [...past.entries, later] }, vault);
  for (const write of archived) redis.run(write);
  redis.run(['HDEL', tenantKeys(tenantId).numbers, PHONE]);
  const { inheritance } = await readNumber(state, { phone: PHONE }, { store, vault, nowMs: nowMs + 1 });
  assert.deepEqual(
    inheritance?.entries.map(({ kind, atMs }) => [kind, atMs]),
    [[later.kind, later.atMs]],
  );
});
