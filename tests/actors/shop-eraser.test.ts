/** A shop is erased in short commits, and an erasure that stopped between two of them is completed: a real Redis. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Redis } from 'ioredis';
import { ShopEraser, type ShopEraserOptions } from '../../actors/shops/effects/shop-eraser.ts';
import { carriedKey } from '../../actors/shops/records/carried-message.ts';
import { dayOf } from '../../actors/shops/records/message-days.ts';
import { numberVault } from '../../actors/shops/records/number-vault.ts';
import { shopKeys } from '../../actors/shops/records/shop-keys.ts';
import { batchKey, endedBatchesKey } from '../../actors/shops/state/batches.ts';
import { tenantAddress } from '../../actors/tenants/tenant-keys.ts';
import { objectIdGenerator } from '../../runtime/object-id.ts';
import { systemRandom } from '../../runtime/random.ts';
import type { Read, Write } from '../../runtime/store.ts';
import { type RedisServer, startRedisServer } from '../redis-server.ts';
import { FakeClock } from '../runtime/fake-clock.ts';

const DAY_MS = 86_400_000;
const CARRIED = 120;
const BATCHES = 150;
const newId = objectIdGenerator(systemRandom);
const clock = new FakeClock();
const nowMs = clock.wallMs();

let server: RedisServer;
let redis: Redis;
before(async () => {
  server = await startRedisServer();
  redis = new Redis(server.url);
});
after(async () => {
  redis?.disconnect();
  await server?.stop();
});

const run = (commands: readonly (Read | Write)[]): Promise<unknown[]> =>
  Promise.all(commands.map(([name, ...args]) => redis.call(name, args.map(String))));

/** A shop of the pool with messages of others, the first of which is on the wire, and with many batches, half ended. */
async function largeShop() {
  const shop = { tenantId: newId(nowMs), shopId: newId(nowMs) };
  const { shard } = tenantAddress(shop.tenantId);
  const keys = shopKeys(shard, shop.shopId);
  const carried = Array.from({ length: CARRIED }, () => newId(nowMs));
  const body = JSON.stringify({ createdAtMs: nowMs, text: 'Hello' });
  const batches = Array.from({ length: BATCHES }, () => newId(nowMs));
  const ended = endedBatchesKey(keys, dayOf(nowMs));
  await run([
    ...carried.flatMap((id): Write[] => [
      ['ZADD', keys.carried, 0, id],
      ['HSET', carriedKey(shard, id), 'body', body],
    ]),
    ['HSET', carriedKey(shard, carried[0] ?? ''), 'state', JSON.stringify({ status: 'sending' })],
    ['HSET', keys.shop, 'settled', 0],
    ...batches.flatMap((id, index): Write[] => [
      ['HSET', index % 2 === 0 ? keys.batches : ended, id, '{}'],
      ['HSET', batchKey(keys, id), 'content', '{}'],
    ]),
  ]);
  const sizes: number[] = [];
  /** Erases it; the erasure is stopped before that commit. */
  const erase = async (stopAt = Number.POSITIVE_INFINITY): Promise<void> => {
    const nothing = async (): Promise<void> => undefined;
    let commits = 0;
    const store = {
      read: run,
      append: run,
      async commit(_shard: number, writes: readonly Write[]): Promise<void> {
        commits += 1;
        if (commits === stopAt) throw new Error('killed');
        sizes.push(writes.length);
        await run(writes);
      },
    };
    const eraser = new ShopEraser({
      ...{ store, clock, vault: numberVault([Buffer.alloc(32, 1)]), retentionMs: 30 * DAY_MS },
      ...{ actors: { passivate: nothing, ask: nothing }, deadLetters: { forget: nothing } },
      ...{ host: { erase: nothing }, poolSessions: { forget: nothing }, forgetChanges: nothing },
      sharedNumbers: { forget: nothing, remember: () => undefined },
    } as unknown as ShopEraserOptions);
    await eraser.erase({ ...shop, withTenant: false });
  };
  const left = (): Promise<string[]> => redis.keys(`*${shop.shopId}*`);
  const carriedNow = async () => {
    const states = await Promise.all(
      carried.map((id) => redis.hmget(carriedKey(shard, id), 'body', 'state')),
    );
    return states.map(([text, state]) => ({ text, reason: JSON.parse(state ?? '{}').reason }));
  };
  return { erase, left, carriedNow, sizes };
}

test('a shop that carried and kept much is erased in short commits', async () => {
  const { erase, left, carriedNow, sizes } = await largeShop();
  await erase();
  assert.deepEqual(await left(), []);
  assert.ok(Math.max(...sizes) <= 151, `${sizes} writes`);
  assert.deepEqual(await carriedNow(), [
    { text: null, reason: 'DELIVERY_UNKNOWN' },
    ...Array.from({ length: CARRIED - 1 }, () => ({ text: null, reason: 'MSGAPP_SESSION_LOST' })),
  ]);
});

test('an erasure that was stopped before any of its commits leaves nothing when it is repeated', async () => {
  const whole = await largeShop();
  await whole.erase();
  assert.ok(whole.sizes.length > 4, `${whole.sizes.length} commits`);
  for (let stopAt = 1; stopAt <= whole.sizes.length; stopAt += 1) {
    const { erase, left, carriedNow } = await largeShop();
    await assert.rejects(erase(stopAt), { message: 'killed' });
    await erase();
    assert.deepEqual(await left(), [], `stopped before commit ${stopAt}`);
    assert.deepEqual((await carriedNow())[0], { text: null, reason: 'DELIVERY_UNKNOWN' });
  }
});
