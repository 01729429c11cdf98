/** An erasure comes to its end, whatever fails on the way, and however much there is to erase. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { done, failed } from '../../actors/failure.ts';
import { type OperatorServiceOptions, operatorService } from '../../actors/operators/operator-service.ts';
import { tenantBehaviour } from '../../actors/tenant/tenant-behaviour.ts';
import { tenantEffects } from '../../actors/tenant/tenant-effects.ts';
import { tenantAddress } from '../../actors/tenant/tenant-keys.ts';
import type { TenantState } from '../../actors/tenant/tenant-state.ts';
import { firstProgress } from '../../actors/webhooks/progress.ts';
import { KeyLimits } from '../../policy/key-limits.ts';
import { checkWrites } from '../../runtime/ownership/turn-writes.ts';
import { FakeClock } from '../runtime/fake-clock.ts';
import { QuietLog } from '../runtime/quiet-log.ts';
import { webhookRecord } from '../webhooks/endpoint-world.ts';
import { goldenTenant, readGolden } from './golden/golden-store.ts';

const golden = readGolden(1);
const address = tenantAddress(golden.tenantId);
const shopId = '66b1f0a2c3d4e5f607182901';

/** A node whose eraser fails as often as it is told, and the tenant that lives there, if it does. */
function nodeWithEraser(failures: number, tenant: () => Pick<TenantState, 'erasing'> | undefined) {
  const clock = new FakeClock();
  const log = new QuietLog();
  let erasures = 0;
  const perform = tenantEffects({
    actors: { peek: tenant },
    clock,
    log,
    eraseShop: async () => {
      erasures += 1;
      if (erasures <= failures) throw new Error('Redis is away');
    },
  } as unknown as Parameters<typeof tenantEffects>[0]);
  perform({ type: 'erase_shop', shopId }, address);
  return { clock, log, erasures: () => erasures };
}

test('an erasure that failed is tried again until it is done', async () => {
  const { clock, log, erasures } = nodeWithEraser(2, () => ({ erasing: new Set([shopId]) }));
  await clock.advance(60_000);
  assert.deepEqual([erasures(), log.errors.length], [3, 2]);
});

test('an erasure that failed is left to the tenant where it lives by then, and to nobody once it is done', async () => {
  const moved = nodeWithEraser(1, () => undefined);
  const finished = nodeWithEraser(1, () => ({ erasing: new Set() }));
  await moved.clock.advance(60_000);
  await finished.clock.advance(60_000);
  assert.deepEqual([moved.erasures(), finished.erasures()], [1, 1]);
});

test('dead letters of a tenant are erased though the erasure of its shops fails', async () => {
  const state = await goldenTenant(golden);
  const forgotten: unknown[] = [];
  const operators = operatorService({
    actors: { state: () => state, ask: async () => done([shopId]), passivate: async () => 'passivated' },
    deadLetters: { forget: async (actor: unknown) => void forgotten.push(actor) },
    eraser: { erase: () => Promise.reject(new Error('Redis is away')) },
  } as unknown as OperatorServiceOptions);
  await assert.rejects(operators.deleteTenant(golden.tenantId));
  assert.deepEqual(forgotten, [address]);
});

test('dead letters of a tenant that could not be erased with it are erased when it is deleted again', async () => {
  const state = await goldenTenant(golden);
  const deleted = { ...state, record: { ...state.record, deleted: true } };
  const forgotten: unknown[] = [];
  const operators = operatorService({
    actors: { state: () => deleted },
    deadLetters: { forget: async (actor: unknown) => void forgotten.push(actor) },
  } as unknown as OperatorServiceOptions);
  assert.deepEqual(await operators.deleteTenant(golden.tenantId), failed('NOT_FOUND'));
  assert.deepEqual(forgotten, [address]);
});

test('what still waited for a tenant when its erasure was decided leaves nothing behind', async () => {
  const keyLimits = new KeyLimits();
  const state = await goldenTenant(golden, keyLimits);
  const deleted = { ...state, record: { ...state.record, deleted: true } };
  const { turn } = tenantBehaviour({
    keyLimits,
    makeId: () => shopId,
    retentionMs: 1,
    perform: () => undefined,
  });
  const [key] = state.apiKeys.values();
  assert.ok(key);
  const facts = { contacts: new Map(), customers: new Set<string>() };
  const phone = '+33611110001';
  const commands: Parameters<typeof turn>[1][] = [
    { type: 'create_shop', name: 'Late', phone: undefined, imported: true, idempotencyKey: undefined },
    { type: 'declare', contacts: [{ phone, note: undefined, expiresAt: undefined }] },
    { type: 'add_customers', phones: [phone] },
    { type: 'change', changes: { name: 'Late' } },
    { type: 'put_key', key: key.record },
    { type: 'store_usage' },
  ];
  for (const command of commands) {
    const { writes = [] } = turn(deleted, command, { address, nowMs: 0, facts });
    assert.deepEqual(writes, [], command.type);
  }
});

test('a tenant of any number of shops can be erased', async () => {
  const keyLimits = new KeyLimits();
  const state = await goldenTenant(golden, keyLimits);
  const [shop] = state.shops.values();
  assert.ok(shop);
  const ids = Array.from({ length: 5_000 }, (_, index) => index.toString(16).padStart(24, '0'));
  const large = { ...state, shops: new Map(ids.map((id) => [id, { ...shop, id }])) };
  const { turn } = tenantBehaviour({ keyLimits, makeId: () => '', retentionMs: 1, perform: () => undefined });
  const facts = { contacts: new Map(), customers: new Set<string>() };
  const { writes = [] } = turn(large, { type: 'delete_tenant' }, { address, nowMs: 0, facts });
  checkWrites(address.shard, writes);
  assert.deepEqual(
    writes.filter(([command]) => command === 'SADD').flatMap((write) => write.slice(2)),
    ids,
  );
});

test('a tenant that had a webhook lives until its shops are erased, and no longer', async () => {
  const keyLimits = new KeyLimits();
  const stored = await goldenTenant(golden, keyLimits);
  const { turn, mustLive } = tenantBehaviour({
    keyLimits,
    makeId: () => shopId,
    retentionMs: 1,
    perform: () => undefined,
  });
  const webhook = {
    ...{ id: shopId, url: 'https://example.com/hooks', types: null, shops: null, secret: '', former: null },
    ...{ since: '0-0', createdAtMs: 0, enabledAtMs: 0, disabled: null },
  };
  const facts = { contacts: new Map(), customers: new Set<string>() };
  const context = { address, nowMs: 0, facts };
  const living = { ...stored, webhooks: new Map([[webhook.id, webhook]]) };
  let state: TenantState | undefined = turn(living, { type: 'delete_tenant' }, context).state;
  assert.deepEqual([mustLive(living), state && mustLive(state)], [true, true]);
  for (const erased of [...(state?.erasing ?? [])]) {
    state = state && turn(state, { type: 'shop_erased', shopId: erased }, context).state;
  }
  assert.deepEqual([state?.erasing.size, state && mustLive(state)], [0, false]);
});

test('a try of a webhook that ends once its shop is to be erased is not noted', async () => {
  const keyLimits = new KeyLimits();
  const stored = await goldenTenant(golden, keyLimits);
  const { turn } = tenantBehaviour({
    keyLimits,
    makeId: () => shopId,
    retentionMs: 1,
    perform: () => undefined,
  });
  const [living = ''] = stored.shops.keys();
  const webhookId = shopId;
  const state = { ...stored, webhooks: new Map([[webhookId, webhookRecord({ id: webhookId })]]) };
  const attempts = [living, 'f'.repeat(24)].map((ofShop) => ({
    ...{ eventId: shopId, type: 'queue.paused', shopId: ofShop, atMs: 0, durationMs: 1 },
    ...{ number: 1, status: 204, error: null, isDead: false },
  }));
  const progress = firstProgress({ since: '0-0' });
  const command = {
    type: 'webhook_progress',
    loading: state.loading,
    webhookId,
    progress,
    attempts,
  } as const;
  const facts = { contacts: new Map(), customers: new Set<string>() };
  const { writes = [] } = turn(state, command, { address, nowMs: 0, facts });
  const noted = writes.filter(([name]) => name === 'XADD').map((write) => write.at(-1));
  assert.deepEqual(noted, [living]);
});
