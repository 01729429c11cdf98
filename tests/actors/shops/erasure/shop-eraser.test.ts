/** A shop is erased in short commits, and an erasure that stopped between two of them is completed: a real Redis. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Redis } from 'ioredis';
import { ShopEraser, type ShopEraserOptions } from '../../../../actors/shops/erasure/shop-eraser.ts';
import { readArchive } from '../../../../actors/shops/number-past/number-archive.ts';
import { numberUseWrite } from '../../../../actors/shops/number-past/number-use.ts';
import { carriedKey } from '../../../../actors/shops/records/carried-message.ts';
import { dayOf } from '../../../../actors/shops/records/message-days.ts';
import { numberVault } from '../../../../actors/shops/records/number-vault.ts';
import { shopKeys } from '../../../../actors/shops/records/shop-keys.ts';
import { batchKey, endedBatchesKey } from '../../../../actors/shops/state/batches.ts';
import { endedKey } from '../../../../actors/shops/state/scheduled-sends.ts';
import { tenantAddress, tenantKeys } from '../../../../actors/tenants/tenant-keys.ts';
import { DAY_MS } from '../../../../runtime/durations.ts';
import { objectIdGenerator } from '../../../../runtime/object-id.ts';
import { systemRandom } from '../../../../runtime/random.ts';
import type { Read, RedisCommand, Store, Write } from '../../../../runtime/store.ts';
import { FakeClock } from '../../../testbed/fake-clock.ts';
import { fakeOf } from '../../../testbed/fake-of.ts';
import { type RedisServer, startRedisServer } from '../../../testbed/redis-server.ts';

const CARRIED = 120;
const PHONE = '33600000001';
/** The most texts in one answer of Redis. A step may return some more fields than it is asked for. */
const MOST_TEXTS = 1_500;
const vault = numberVault([Buffer.alloc(32, 1)]);
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

/** `HDELIF` is the runtime's own command. No other process changes the field here. */
const run = (commands: readonly RedisCommand[]): Promise<unknown[]> =>
  Promise.all(
    commands.map(([name, ...args]) =>
      name === 'HDELIF' ? redis.hdel(String(args[0]), String(args[1])) : redis.call(name, args.map(String)),
    ),
  );

/**
 * A shop of the pool with messages of others, the first of which is on the wire, and with many batches, half ended.
 * Half of those ended before all kept days, while the retention was longer. It also has messages at another shop of the
 * pool. Every other one of its writers opted out.
 */
async function largeShop({ batches: count = 150, pooled = 3, writers = 4, isTenantErased = false } = {}) {
  const shop = { tenantId: newId(nowMs), shopId: newId(nowMs) };
  const tenant = tenantKeys(shop.tenantId);
  const { shard } = tenantAddress(shop.tenantId);
  const keys = shopKeys(shard, shop.shopId);
  const carried = Array.from({ length: CARRIED }, () => newId(nowMs));
  const body = JSON.stringify({ createdAtMs: nowMs, text: 'Hello' });
  const batches = Array.from({ length: count }, () => newId(nowMs));
  const pool = { tenantId: newId(nowMs), shopId: newId(nowMs) };
  const atPool = Array.from({ length: pooled }, () => newId(nowMs));
  const wrote = Array.from({ length: writers }, (_, index) => `+3361${1_000_000 + index}`);
  const optedOut = wrote.filter((_, index) => index % 2 === 1);
  const endDays = [dayOf(nowMs), dayOf(nowMs) - 45] as const;
  const ended = endDays.map((day) => endedBatchesKey(keys, day));
  const streams = [tenant.events, tenant.webhookAttempts];
  await run([
    ...carried.flatMap((id): Write[] => [
      ['ZADD', keys.carried, 0, id],
      ['HSET', carriedKey(shard, id), 'body', body],
    ]),
    ['HSET', carriedKey(shard, carried[0] ?? ''), 'state', JSON.stringify({ status: 'sending' })],
    ['HSET', keys.shop, 'settled', 0],
    ...batches.flatMap((id, index): Write[] => [
      ['HSET', (index % 2 === 0 ? undefined : ended[(index >> 1) % 2]) ?? keys.batches, id, '{}'],
      ['HSET', batchKey(keys, id), 'content', '{}'],
    ]),
    ...endDays.map((day): Write => ['HSET', endedKey(keys, day), newId(nowMs), '{}']),
    ...atPool.map((id): Write => ['HSET', keys.pooled, id, JSON.stringify({ createdAtMs: nowMs, pool })]),
    ...wrote.map((phone): Write => {
      const writer = {
        lastInboundAtMs: nowMs,
        stampMs: nowMs,
        optedOut: optedOut.includes(phone),
        wireIds: [],
      };
      return ['HSET', keys.writers, phone, JSON.stringify(writer)];
    }),
    ...streams.map((stream): Write => ['XADD', stream, '*', 's', shop.shopId]),
    ['SET', tenant.record, JSON.stringify({ deleted: false })],
    numberUseWrite(shop.tenantId, PHONE, { shopId: shop.shopId }),
  ]);
  const sizes: number[] = [];
  const answered: number[] = [];
  const takenBack = new Set<string>();
  const forgotten = new Set<string>();
  const read = async (reads: readonly Read[]): Promise<unknown[]> => {
    const answers = await run(reads);
    answered.push(...answers.map((answer) => [answer].flat(2).length));
    return answers;
  };
  /** Erases it; the erasure is stopped before that commit. */
  const erase = async (stopAt = Number.POSITIVE_INFINITY): Promise<void> => {
    const nothing = async (): Promise<void> => undefined;
    let commits = 0;
    const store = {
      read: read as Store['read'],
      append: run,
      async commit(_shard: number, writes: readonly Write[]): Promise<void> {
        commits += 1;
        if (commits === stopAt) throw new Error('killed');
        sizes.push(writes.length);
        await run(writes);
      },
    };
    const eraser = new ShopEraser({
      store,
      clock,
      vault,
      retentionMs: 30 * DAY_MS,
      actors: { passivate: nothing, ask: nothing, owns: () => true },
      deadLetters: { forget: nothing },
      host: { erase: nothing },
      poolSessions: { forget: nothing },
      forgetChanges: async (id: string) => void forgotten.add(id),
      sharedNumbers: { forget: nothing, remember: () => undefined },
      poolClient: {
        takeBackErased: async ({ messageId }: { messageId: string }) => void takenBack.add(messageId),
      },
    } as unknown as ShopEraserOptions);
    await eraser.erase({ ...shop, isTenantErased });
  };
  /** The keys and the entries of its tenant's streams that still name it. */
  const left = async (): Promise<string[]> => {
    const entries = await Promise.all(streams.map((stream) => redis.xrange(stream, '-', '+')));
    const named = entries.flat().filter(([, fields]) => fields.includes(shop.shopId));
    return [...(await redis.keys(`*${shop.shopId}*`)), ...named.map(([, fields]) => fields.join())];
  };
  const carriedNow = async () => {
    const states = await Promise.all(
      carried.map((id) => redis.hmget(carriedKey(shard, id), 'body', 'state')),
    );
    return states.map(([text, state]) => ({ text, reason: JSON.parse(state ?? '{}').reason }));
  };
  /** Returns the shop's messages still at the pool, its number's lost opt-outs, and its id if it is logged. */
  const lost = async (): Promise<string[]> => {
    const number = { tenantId: shop.tenantId, phone: PHONE };
    const archive = await readArchive(number, vault, {
      store: fakeOf<Store>({ read: run as Store['read'] }),
      nowMs,
    });
    const kept = archive?.past.writers;
    const still = [shop.shopId].filter((id) => !forgotten.has(id));
    const atOthers = atPool.filter((id) => !takenBack.has(id));
    return [...atOthers, ...optedOut.filter((phone) => !kept?.has(phone)), ...still];
  };
  return { erase, left, carriedNow, lost, sizes, answered };
}

test('a shop that carried and kept much is erased in short commits', async () => {
  const { erase, left, carriedNow, lost, sizes } = await largeShop();
  await erase();
  assert.deepEqual([await left(), await lost()], [[], []]);
  assert.ok(Math.max(...sizes) <= 151, `${sizes} writes`);
  assert.deepEqual(await carriedNow(), [
    { text: null, reason: 'DELIVERY_UNKNOWN' },
    ...Array.from({ length: CARRIED - 1 }, () => ({ text: null, reason: 'MSGAPP_SESSION_LOST' })),
  ]);
});

test('a shop leaves nothing of what ended while the retention was longer, also if its tenant is erased', async () => {
  for (const isTenantErased of [false, true]) {
    const { erase, left } = await largeShop({ batches: 8, isTenantErased });
    await erase();
    const names = (await left()).filter((text) => /batch|scheduled/.test(text));
    assert.deepEqual(names, []);
  }
});

test('no answer that an erasure reads grows with the shop', async () => {
  const { erase, left, lost, answered } = await largeShop({ batches: 3_000, pooled: 2_000, writers: 4_000 });
  await erase();
  assert.deepEqual([await left(), await lost()], [[], []]);
  assert.ok(Math.max(...answered) <= MOST_TEXTS, `${Math.max(...answered)} texts in one answer`);
});

test('an erasure that was stopped before any of its commits leaves nothing when it is repeated', async () => {
  const whole = await largeShop();
  await whole.erase();
  assert.ok(whole.sizes.length > 4, `${whole.sizes.length} commits`);
  for (let stopAt = 1; stopAt <= whole.sizes.length; stopAt += 1) {
    const { erase, left, lost, carriedNow } = await largeShop();
    await assert.rejects(erase(stopAt), { message: 'killed' });
    await erase();
    assert.deepEqual([await left(), await lost()], [[], []], `stopped before commit ${stopAt}`);
    assert.deepEqual((await carriedNow())[0], { text: null, reason: 'DELIVERY_UNKNOWN' });
  }
});
