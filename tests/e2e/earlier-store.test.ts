/** A node of this version starts on what version 1 left: nothing is lost, nothing is sent twice, all counts as before. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Redis } from 'ioredis';
import { PERMISSIONS } from '../../actors/tenant/permission.ts';
import { shardOf } from '../../runtime/address.ts';
import {
  type EarlierShop,
  type EarlierStore,
  fillWith,
  readEarlierStore,
} from '../actors/golden/earlier-store.ts';
import { type ApiClient, apiClient } from './api-client.ts';
import { type MemoryStack, startMemoryStack } from './memory-stack.ts';
import { sendText, untilEnded } from './shop-steps.ts';

const paired = { paired: true, pairedAgoMs: 20 * 86_400_000 } as const;

interface Started {
  readonly stack: MemoryStack;
  readonly store: EarlierStore;
  /** The API as the stored tenant sees it. */
  readonly api: ApiClient;
  readonly redis: Redis;
  stop(): Promise<void>;
}

/** A node on such a store. `change`: what is different there. */
async function startOn(change: (redis: Redis) => Promise<unknown> = async () => undefined): Promise<Started> {
  const store = readEarlierStore(Date.now());
  const stack = await startMemoryStack(paired, async (redisUrl) => {
    await fillWith(store, redisUrl);
    const redis = new Redis(redisUrl);
    await change(redis);
    redis.disconnect();
  });
  const key = await stack.admin.post(`/tenants/${store.tenantId}/keys`, {
    name: 'now',
    permissions: PERMISSIONS,
    limits: { minute: 6_000, hour: 100_000, day: 1_000_000 },
  });
  const redis = new Redis(stack.redis.url);
  return {
    stack,
    store,
    api: apiClient(stack.apiUrl, String(key.data.key)),
    redis,
    async stop() {
      redis.disconnect();
      await stack.stop();
    },
  };
}

test('what version 1 had accepted is sent once, listed, replayed and counted by this one', async () => {
  const started = await startOn();
  const { stack, store, api, redis } = started;
  try {
    const { busy, held, quiet, lost } = store.shops;
    for (const { id } of [...busy.messages, ...lost.messages]) await untilEnded({ api }, id);
    assert.deepEqual(await listed(api, busy), {
      Open: 'sent',
      'waits 2': 'sent',
      'waits 1': 'sent',
      'silent one': 'failed BOT_RESTARTED',
      'too late': 'rejected RECIPIENT_OPTED_OUT',
      'nobody there': 'rejected RECIPIENT_NOT_ON_MSGAPP',
      'sent 3': 'sent',
      'sent 2': 'sent',
      'sent 1': 'sent',
      'sent 0': 'sent',
    });
    assert.deepEqual(await listed(api, held), { 'held 2': 'queued', 'held 1': 'queued' });
    assert.deepEqual(await listed(api, held, '?status=queued'), { 'held 2': 'queued', 'held 1': 'queued' });
    assert.deepEqual(await listed(api, quiet), { 'all done': 'sent' });
    assert.deepEqual(await listed(api, lost), {
      'by the pool': 'sent',
      'silent by the pool': 'failed BOT_RESTARTED',
    });
    const rejected = ['too late', 'nobody there'];
    assert.deepEqual(Object.keys(await listed(api, busy, '?status=rejected')), rejected);
    assert.deepEqual(Object.keys(await listed(api, busy, '?status=failed')), ['silent one']);
    assert.equal(Object.keys(await listed(api, busy, '?status=sent')).length, 7);

    const sentBy = (tenantId: string, shopId: string): string[] =>
      stack.network.sent({ shard: shardOf(tenantId), tenantId, shopId }).map(({ messageId }) => messageId);
    const named = ({ messages }: EarlierShop, ...texts: string[]): (string | undefined)[] =>
      texts.map((wanted) => messages.find(({ text }) => text === wanted)?.id);
    assert.deepEqual(sentBy(store.tenantId, busy.shopId), named(busy, 'waits 1', 'waits 2', 'Open'));
    assert.deepEqual(sentBy(store.tenantId, held.shopId), []);
    assert.deepEqual(sentBy(store.tenantId, quiet.shopId), []);
    assert.deepEqual(sentBy(store.platformId, store.pool), named(lost, 'by the pool'));

    const replays = [
      [busy, 'order-1', 'sent 0'],
      [busy, 'order-2', 'waits 1'],
      [held, 'order-3', 'held 2'],
      [lost, 'order-5', 'by the pool'],
    ] as const;
    for (const [shop, idempotencyKey, text] of replays) {
      const again = await sendText({ api }, shop.shopId, { to: '+33622220039', text: 'x', idempotencyKey });
      assert.deepEqual([again.status, again.data.id], [200, named(shop, text)[0]], idempotencyKey);
    }
    const next = await sendText({ api }, quiet.shopId, { to: '+33622220020', text: 'one more' });
    assert.equal((next.data.policy as { usage: { today: number } }).usage.today, 2);
    const earlier = await redis.keys('{s*}:shop:*');
    assert.deepEqual(
      earlier.filter((key) => /:(messages|queue|ledger)$/.test(key)),
      [],
    );
  } finally {
    await started.stop();
  }
});

for (const [state, change] of [
  ['that this version brought up to date', async () => undefined],
  ['that this version never loaded', async (redis: Redis) => redis.del(...(await redis.keys('{s*}:awake')))],
] as const) {
  test(`of a shop ${state} an erasure leaves nothing`, async () => {
    const started = await startOn(change);
    const { stack, store, redis } = started;
    try {
      const { shopId, messages } = store.shops.busy;
      if (state.includes('brought')) {
        for (const { id } of messages) await untilEnded(started, id);
      }
      const before = await redis.keys(`{s${shardOf(store.tenantId)}}:*`);
      assert.ok(before.some((key) => key.includes(shopId)));
      const erased = await stack.admin.delete(`/tenants/${store.tenantId}/shops/${shopId}`);
      assert.equal(erased.status, 200);
      const left = JSON.stringify(await dump(redis, shardOf(store.tenantId)));
      assert.ok(!left.includes(shopId), 'the shop');
      for (const { id, text } of messages) assert.ok(!left.includes(id), text);
      assert.ok(left.includes(store.shops.held.messages[0]?.id ?? '-'), 'other shops keep theirs');
    } finally {
      await started.stop();
    }
  });
}

/** Status by text of what a shop's list says, in its order. */
async function listed(api: ApiClient, { shopId }: EarlierShop, query = ''): Promise<Record<string, string>> {
  const page = await api.get(`/shops/${shopId}/messages${query}`);
  const items = page.data.items as { text: string; status: string; reason: string | null }[];
  return Object.fromEntries(
    items.map(({ text, status, reason }) => [text, reason === null ? status : `${status} ${reason}`]),
  );
}

/** Every key of a shard, with all it holds. */
async function dump(redis: Redis, shard: number): Promise<unknown[]> {
  const keys = await redis.keys(`{s${shard}}:*`);
  return await Promise.all(
    keys.map(async (key) => {
      const type = await redis.type(key);
      if (type === 'hash') return [key, await redis.hgetall(key)];
      if (type === 'list') return [key, await redis.lrange(key, 0, -1)];
      if (type === 'zset') return [key, await redis.zrange(key, 0, '-1')];
      if (type === 'set') return [key, await redis.smembers(key)];
      if (type === 'stream') return [key, await redis.xrange(key, '-', '+')];
      return [key, await redis.get(key)];
    }),
  );
}
