/**
 * The order of a tenant's events over a real Redis. Several shops decide at one time and commit in any order, some of
 * them too late. A reader that polls meanwhile sees each committed event once, in the order of cursors.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { eventService } from '../../../actors/events/event-service.ts';
import { EventWaiters } from '../../../actors/tenants/stored-events/event-waiters.ts';
import { eventWrites } from '../../../actors/tenants/stored-events/tenant-event.ts';
import { tenantKeys } from '../../../actors/tenants/tenant-keys.ts';
import { shardKey, shardOf } from '../../../runtime/address.ts';
import { RedisEngine } from '../../../runtime/redis/redis-engine.ts';
import type { Write } from '../../../runtime/store.ts';
import { plainStore } from '../../http/service-fixture.ts';
import { EVENT_LIMITS } from '../../testbed/event-limits.ts';
import { FakeClock } from '../../testbed/fake-clock.ts';
import { LineLog } from '../../testbed/line-log.ts';
import { propertyRuns } from '../../testbed/property-runs.ts';
import { QuietLog } from '../../testbed/quiet-log.ts';
import { seededRandom } from '../../testbed/seeded-random.ts';
import { sharedRedis } from '../../testbed/shared-redis.ts';

const tenantId = '66b1f0a2c3d4e5f607182901';
const { events: key } = tenantKeys(tenantId);
const shard = shardOf(tenantId);
const owner = shardKey(shard, 'owner');
const clock = new FakeClock();

let engine: RedisEngine;
after(() => engine?.close());
const { redis, url: redisUrl } = sharedRedis({}, async () => {
  engine = await RedisEngine.connect(redisUrl, { log: new QuietLog(), clock, answerMs: 10_000 });
});

test('a reader sees each committed event once and no other, in any order of commits', async (context) => {
  const { seed, numRuns } = propertyRuns(context, 20);
  const { list } = eventService({
    store: plainStore(redis),
    waiters: new EventWaiters(clock),
    inbound: { eventOf: async () => undefined },
    log: new LineLog(),
    messages: { message: () => Promise.reject(new Error('there are no messages')) },
  });
  for (let run = 0; run < numRuns; run += 1) {
    const random = seededRandom(seed + run);
    await redis.flushall();
    await redis.set(owner, 'now');
    const committed: string[] = [];
    const seen: { readonly id: string; readonly phone: string }[] = [];
    let cursor = '0'.repeat(24);
    const read = async (): Promise<void> => {
      const asked = { cursor, limit: 1 + Math.floor(random() * 5), types: undefined, shopId: undefined };
      const page = await list(tenantId, { ...asked, waitMs: 0 });
      assert.ok(page.ok, `seed ${seed}, run ${run}: ${JSON.stringify(page)}`);
      seen.push(
        ...page.value.items.map(({ id, data }) => ({
          id,
          phone: String((data as { phone?: string }).phone),
        })),
      );
      cursor = page.value.nextCursor;
    };
    /** Turns that were decided and are not committed yet. */
    const decided: { readonly phones: readonly string[]; readonly writes: readonly Write[] }[] = [];
    for (let step = 0; step < 60; step += 1) {
      await clock.advance(Math.floor(random() * 3));
      const chance = random();
      if (chance < 0.45) {
        const phones = Array.from({ length: 1 + Math.floor(random() * 3) }, (_, n) => `${step}.${n}`);
        const told = phones.map((phone) => ({
          type: 'recipient.opted_out' as const,
          shopId: `shop-${step}`,
          subject: JSON.stringify({ phone }),
        }));
        decided.push({
          phones,
          writes: eventWrites(tenantId, told, { nowMs: clock.wallMs(), limits: EVENT_LIMITS }),
        });
      } else if (chance < 0.8 && decided.length > 0) {
        const [turn] = decided.splice(Math.floor(random() * decided.length), 1);
        const isLate = random() < 0.2;
        const revision = isLate ? 'before' : 'now';
        const batch = { shard, expected: revision, next: revision };
        const [outcome] = await engine.commit([{ ...batch, entries: [{ writes: turn?.writes ?? [] }] }]);
        assert.equal(outcome?.code === 'committed', !isLate);
        assert.equal(outcome?.failures?.size ?? 0, 0, `seed ${seed}, run ${run}: a commit was refused`);
        if (!isLate) committed.push(...(turn?.phones ?? []));
      } else {
        await read();
      }
    }
    while (seen.length < committed.length) {
      const countBefore = seen.length;
      await read();
      assert.ok(
        seen.length > countBefore,
        `seed ${seed}, run ${run}: ${committed.length - countBefore} were passed over`,
      );
    }
    assert.deepEqual(
      seen.map(({ phone }) => phone),
      committed,
      `seed ${seed}, run ${run}`,
    );
    assert.deepEqual(
      seen.map(({ id }) => id),
      [...new Set(seen.map(({ id }) => id))].toSorted(),
    );
    assert.equal(await redis.xlen(key), committed.length);
  }
});
