/** XTRIMOLD is a command of commits that Redis does not have. It trims the stream that readers of events follow. */
import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { eventService } from '../../../actors/events/event-service.ts';
import { cursorOf } from '../../../actors/tenants/stored-events/event-cursor.ts';
import { EventWaiters } from '../../../actors/tenants/stored-events/event-waiters.ts';
import { eventWrites } from '../../../actors/tenants/stored-events/tenant-event.ts';
import { tenantKeys } from '../../../actors/tenants/tenant-keys.ts';
import { shardKey, shardOf } from '../../../runtime/address.ts';
import { DAY_MS } from '../../../runtime/durations.ts';
import { RedisEngine } from '../../../runtime/redis/redis-engine.ts';
import type { Write } from '../../../runtime/store.ts';
import { plainStore } from '../../http/service-fixture.ts';
import { FakeClock } from '../../testbed/fake-clock.ts';
import { LineLog } from '../../testbed/line-log.ts';
import { QuietLog } from '../../testbed/quiet-log.ts';
import { sharedRedis } from '../../testbed/shared-redis.ts';

const tenantId = '66b1f0a2c3d4e5f607182901';
const { events: key } = tenantKeys(tenantId);
const shard = shardOf(tenantId);
const NOW_MS = 1_700_000_000_000;
const limits = { maxAgeMs: 7 * DAY_MS, maxEntries: 50_000 };
const clock = new FakeClock();

let engine: RedisEngine;
after(() => engine?.close());
const { redis, url: redisUrl } = sharedRedis({}, async () => {
  engine = await RedisEngine.connect(redisUrl, { log: new QuietLog(), clock, answerMs: 10_000 });
  // Redis trims a stream by whole nodes. With one entry in each node, it trims every entry that it may.
  await redis.config('SET', 'stream-node-max-entries', 1);
});

beforeEach(async () => {
  await redis.flushall();
  await redis.set(shardKey(shard, 'owner'), 'now');
});

const daysAgo = (days: number): string => `${NOW_MS - days * DAY_MS}-0`;
async function stored(...days: readonly number[]): Promise<void> {
  for (const day of days) await redis.xadd(key, daysAgo(day), 't', 'queue.resumed', 's', 'shop', 'd', '{}');
}
async function commit(writes: readonly Write[]): Promise<void> {
  const [outcome] = await engine.commit([{ shard, expected: 'now', next: 'now', entries: [{ writes }] }]);
  assert.deepEqual([outcome?.code, outcome?.failures?.size ?? 0], ['committed', 0]);
}
const kept = async (): Promise<string[]> => (await redis.xrange(key, '-', '+')).map(([id]) => id);

test('cuts off entries before the newest old one, and nothing if none is old', async () => {
  const trim: Write = ['XTRIMOLD', key, daysAgo(7)];
  await commit([trim]);
  for (const [days, left] of [
    [
      [6, 1],
      [6, 1],
    ],
    [
      [7, 1],
      [7, 1],
    ],
    [
      [30, 6],
      [30, 6],
    ],
    [
      [30, 9, 8, 6, 1],
      [8, 6, 1],
    ],
    [[30, 9, 8], [8]],
  ] as const) {
    await redis.del(key);
    await stored(...days);
    await commit([trim]);
    assert.deepEqual(await kept(), left.map(daysAgo), `${days} days`);
  }
});

test('a reader of the last event continues after a silence longer than events are kept', async () => {
  const service = eventService({
    store: plainStore(redis),
    waiters: new EventWaiters(clock),
    inbound: { eventOf: async () => undefined },
    log: new LineLog(),
    messages: { message: () => Promise.reject(new Error('there are no messages')) },
  });
  const read = (place: string) =>
    service.list(tenantId, {
      cursor: cursorOf(place),
      limit: 100,
      types: undefined,
      shopId: undefined,
      waitMs: 0,
    });
  await stored(30, 20);
  const event = { type: 'queue.resumed', shopId: 'shop', subject: '{}' } as const;
  await commit(eventWrites(tenantId, [event], { nowMs: NOW_MS, limits }));
  const caughtUp = await read(daysAgo(20));
  assert.ok(caughtUp.ok);
  assert.equal(caughtUp.value.items.length, 1);
  const tooOld = await read(daysAgo(31));
  assert.ok(!tooOld.ok);
  const secondOutcome = await read(`${NOW_MS - 20 * DAY_MS - 1}-0`);
  assert.ok(!secondOutcome.ok, 'nobody knows what was before the oldest');
});
