/** The stored data of a tenant's events and webhooks, counted in a real Redis. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  eventWrites,
  shopEvent,
  type TenantEvent,
} from '../../../actors/tenants/stored-events/tenant-event.ts';
import { tenantKeys } from '../../../actors/tenants/tenant-keys.ts';
import type { TenantState } from '../../../actors/tenants/tenant-state.ts';
import { putWebhook, webhookProgress } from '../../../actors/tenants/turns/webhook-turns.ts';
import { firstProgress } from '../../../actors/webhooks/progress.ts';
import { objectIdGenerator } from '../../../runtime/object-id.ts';
import type { Write } from '../../../runtime/store.ts';
import { EVENT_LIMITS } from '../../testbed/event-limits.ts';
import { seededRandom } from '../../testbed/seeded-random.ts';
import { sharedRedis } from '../../testbed/shared-redis.ts';
import { goldenTenant, readGolden } from '../golden/golden-store.ts';
import { webhookRecord } from './endpoint-world.ts';

const NOW_MS = 1_800_000_000_000;
/** Writes that go to Redis together. */
const AT_ONCE = 1_000;

const { redis } = sharedRedis({ appendfsync: 'no' });

/** Runs writes of Redis' own commands. */
async function run(all: readonly Write[]): Promise<void> {
  const writes = all.filter(([command]) => command !== 'XTRIMOLD');
  for (let from = 0; from < writes.length; from += AT_ONCE) {
    const pipeline = redis.pipeline();
    for (const [command, ...args] of writes.slice(from, from + AT_ONCE))
      pipeline.call(command, ...(args as string[]));
    for (const [failure] of (await pipeline.exec()) ?? []) assert.equal(failure, null);
  }
}

test('at least 2,000 attempts of a tenant are kept, and not many more', async () => {
  const golden = readGolden(1);
  const tenant = await goldenTenant(golden);
  const state: TenantState = { ...tenant, webhooks: new Map([['hook', webhookRecord()]]) };
  const times = { atMs: NOW_MS, durationMs: 5, number: 1, status: 204, error: null, isDead: false };
  const attempt = {
    eventId: '66b1f0a2c3d4e5f607182901',
    type: 'message.sent',
    shopId: golden.shopId,
    ...times,
  };
  const progress = firstProgress({ since: '1-1', enabledAtMs: 0 });
  const { writes = [] } = webhookProgress(state, {
    loading: state.loading,
    webhookId: 'hook',
    progress,
    attempts: Array(3_000).fill(attempt),
  });
  await run(writes);
  const kept = await redis.xlen(state.keys.webhookAttempts);
  assert.ok(kept >= 2_000 && kept < 2_200, `${kept} are kept`);
});

test('operators make at most 1,000 webhooks for a tenant, and its own keys are refused at 20', async () => {
  const tenant = await goldenTenant(readGolden(1));
  const codeAt = (count: number, keeper: 'operator' | 'tenant') => {
    const hooks = Array.from({ length: count }, (_, n) => [`${n}`, webhookRecord({ id: `${n}` })] as const);
    const turn = putWebhook(
      { ...tenant, webhooks: new Map(hooks) },
      { webhook: webhookRecord(), by: keeper },
    );
    const reply = turn.reply as { readonly ok: boolean; readonly failure?: { readonly code: string } };
    return reply.ok ? undefined : reply.failure?.code;
  };
  assert.deepEqual([codeAt(999, 'operator'), codeAt(1_000, 'operator')], [undefined, 'CONFLICT']);
  assert.deepEqual([codeAt(19, 'tenant'), codeAt(20, 'tenant')], [undefined, 'WEBHOOK_LIMIT_REACHED']);
});

test('50,000 events of a tenant take 4 to 7 MB in Redis', async (context) => {
  const makeId = objectIdGenerator(seededRandom(1));
  const [shopId = '', otherId = ''] = [makeId(NOW_MS), makeId(NOW_MS)];
  const usage = async (name: string, eventAt: (index: number) => TenantEvent): Promise<number> => {
    const events = Array.from({ length: EVENT_LIMITS.maxEntries }, (_, index) => eventAt(index));
    const tenantId = makeId(NOW_MS);
    const { events: key } = tenantKeys(tenantId);
    await run(eventWrites(tenantId, events, { nowMs: 0, limits: EVENT_LIMITS }));
    assert.equal(await redis.xlen(key), EVENT_LIMITS.maxEntries);
    const bytes = Number(await redis.memory('USAGE', key, 'SAMPLES', 0));
    context.diagnostic(`${name}: ${bytes} bytes`);
    return bytes;
  };
  const types = ['message.sent', 'message.delivered', 'message.read'] as const;
  const least = await usage('messages of one shop', (index) => {
    return { type: 'message.sent', shopId, subject: makeId(NOW_MS + index) };
  });
  const most = await usage('messages and opt-outs of two shops', (index) => {
    const ownerId = index % 2 === 0 ? shopId : otherId;
    if (index % 5 === 0)
      return shopEvent('recipient.opted_out', ownerId, { phone: `+3361${index + 1_000_000}` });
    return { type: types[index % 3] ?? 'message.sent', shopId: ownerId, subject: makeId(NOW_MS + index) };
  });
  assert.ok(least >= 4e6 && most <= 7e6, `${least} to ${most} bytes`);
});
