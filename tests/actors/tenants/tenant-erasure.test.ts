/** An erasure comes to its end, whatever fails on the way, and however much there is to erase. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  decodeProgress,
  undeliveredEvent,
} from '../../../actors/tenants/stored-webhooks/webhook-progress.ts';
import { TenantErasure, type TenantErasureOptions } from '../../../actors/tenants/tenant-erasure.ts';
import { tenantAddress, tenantKeys } from '../../../actors/tenants/tenant-keys.ts';
import type { TenantState } from '../../../actors/tenants/tenant-state.ts';
import { firstProgress } from '../../../actors/webhooks/progress.ts';
import { KeyLimits } from '../../../policy/limits/key-limits.ts';
import { checkWrites } from '../../../runtime/ownership/turn-writes.ts';
import { MemoryRedis } from '../../runtime/memory-redis.ts';
import { FakeClock } from '../../testbed/fake-clock.ts';
import { QuietLog } from '../../testbed/quiet-log.ts';
import { readsBy } from '../../testbed/reads-by.ts';
import { goldenTenant, readGolden } from '../golden/golden-store.ts';
import { webhookRecord } from '../webhooks/endpoint-world.ts';
import { NO_FACTS, tenantTurns } from './tenant-turns.ts';

const golden = readGolden(1);
const address = tenantAddress(golden.tenantId);
const shopId = '66b1f0a2c3d4e5f607182901';

/**
 * Returns a node whose eraser of shops fails a given number of times, and a tenant that exists there while `isHere`
 * returns true.
 */
async function nodeWithEraser(
  failures: number,
  {
    isHere = () => true,
    deleted = false,
    people = [],
    store = { read: readsBy(() => []), commit: async () => undefined },
  }: {
    isHere?: () => boolean;
    deleted?: boolean;
    people?: readonly string[];
    store?: TenantErasureOptions['store'];
  } = {},
) {
  const clock = new FakeClock();
  const log = new QuietLog();
  const storedState = await goldenTenant(golden);
  let state: TenantState = {
    ...storedState,
    record: { ...storedState.record, deleted },
    shops: new Map(),
    erasing: new Set(shopIds),
    erasingPeople: new Set(people),
  };
  const steps: string[] = [];
  const { turn } = tenantTurns();
  const note = (step: string) => async () => void steps.push(step);
  let atOnce = 0;
  let mostAtOnce = 0;
  let tries = 0;
  const ask = (command: Parameters<typeof turn>[1]): unknown => {
    const decision = turn(state, command, { address, nowMs: 0, facts: NO_FACTS });
    state = decision.state ?? state;
    return decision.reply;
  };
  const tell = (command: Parameters<typeof turn>[1]): void => void ask(command);
  const erasure = new TenantErasure({
    actors: {
      peek: () => (isHere() ? state : undefined),
      ask: async (_address: unknown, command: Parameters<typeof turn>[1]) => {
        steps.push(command.type);
        return ask(command);
      },
      passivate: note('passivate'),
    } as unknown as TenantErasureOptions['actors'],
    store,
    clock,
    log,
    keyIndex: { forget: note('keys') },
    forgetDeadLetters: note('dead letters'),
    eraseStrays: note('strays'),
    forgetRequests: note('requests'),
    refreshDirectory: note('directory'),
    async erasePerson({ personId }) {
      steps.push(personId);
      if (personId === 'stuck') throw new Error('Redis is away');
      tell({ type: 'person_erased', personId });
    },
    async eraseShop(shop) {
      mostAtOnce = Math.max(mostAtOnce, ++atOnce);
      await Promise.resolve();
      atOnce -= 1;
      tries += 1;
      if (tries <= failures) throw new Error('Redis is away');
      tell({ type: 'shop_erased', shopId: shop.shopId });
    },
  });
  return {
    clock,
    log,
    steps,
    tell,
    erasure,
    tries: () => tries,
    mostAtOnce: () => mostAtOnce,
    state: () => state,
  };
}

const shopIds = Array.from({ length: 10 }, (_, index) => String(index).padStart(24, '0'));

test('an erasure that failed is tried again until it is done', async () => {
  const { clock, log, tries, erasure, state } = await nodeWithEraser(2);
  void erasure.run(address);
  await clock.advance(60_000);
  assert.deepEqual([tries(), log.errors.length, state().erasing.size], [12, 2, 0]);
});

for (const subject of ['shop', 'tenant'] as const) {
  test(`the log has the error that stopped the erasure of a ${subject}`, async (context) => {
    const isTenant = subject === 'tenant';
    const read = readsBy(() => {
      throw new Error('Redis is away');
    });
    const store = { read, commit: async () => undefined };
    const { clock, log, erasure } = await nodeWithEraser(isTenant ? 0 : 1, { deleted: isTenant, store });
    const logError = context.mock.method(log, 'error');
    void erasure.run(address);
    await clock.advance(1_000);
    const [fields, line] = logError.mock.calls[0]?.arguments ?? [];
    const { err, ...others } = fields as { readonly err?: unknown };
    assert.ok(err instanceof Error);
    const { tenantId } = golden;
    assert.deepEqual(others, { tenantId, ...(isTenant ? {} : { shopId: shopIds[0] }) });
    assert.equal(line, `the erasure of a ${subject} stopped; it is tried again`);
  });
}

test('an erasure that failed is left to the tenant’s next owner', async () => {
  let isHere = true;
  const { clock, tries, erasure } = await nodeWithEraser(100, { isHere: () => isHere });
  void erasure.run(address);
  await clock.advance(1_000);
  isHere = false;
  await clock.advance(60_000);
  assert.equal(tries(), shopIds.length);
});

test('a tenant erases people, even after a change of owner, and no unknown person', async () => {
  const { erasure, steps, tell, state } = await nodeWithEraser(0, { people: ['somebody'] });
  await erasure.run(address);
  assert.ok(steps.includes('somebody'));
  assert.equal(state().erasingPeople.size, 0);
  tell({ type: 'erase_person', personId: 'nobody' });
  assert.equal(state().erasingPeople.size, 0);
});

test('a person who cannot be erased keeps no other waiting, and is tried again', async () => {
  const { clock, log, erasure, steps, state } = await nodeWithEraser(0, { people: ['stuck', 'other'] });
  void erasure.run(address);
  await clock.advance(1_000);
  assert.deepEqual([...state().erasingPeople], ['stuck']);
  await clock.advance(10_000);
  assert.deepEqual([steps, log.errors.length], [['stuck', 'other', 'stuck'], 2]);
});

test('a shop that cannot be erased keeps no person waiting, and is tried again', async () => {
  const { clock, erasure, tries, state } = await nodeWithEraser(100, { people: ['somebody'] });
  void erasure.run(address);
  await clock.advance(1_000);
  assert.deepEqual([state().erasingPeople.size, state().erasing.size], [0, shopIds.length]);
  await clock.advance(10_000);
  assert.equal(tries(), 2 * shopIds.length);
});

test('shops are erased one after the other', async () => {
  const staying = await nodeWithEraser(0);
  const deleted = await nodeWithEraser(0, { deleted: true });
  await Promise.all([staying.erasure.run(address), deleted.erasure.run(address)]);
  assert.deepEqual([staying.mostAtOnce(), deleted.mostAtOnce()], [1, 1]);
});

test('a deleted tenant is removed after all its other data, its keys first', async () => {
  const { erasure, steps, state } = await nodeWithEraser(0, { deleted: true });
  await erasure.run(address);
  assert.deepEqual(steps, [
    'keys',
    'strays',
    'dead letters',
    'requests',
    'directory',
    'tenant_erased',
    'passivate',
  ]);
  assert.equal(state().isGone, true);
});

test('a deleted tenant whose shard left during the erasure of its shops is erased after its return', async () => {
  let looks = 0;
  // Away as the second shop is about to be erased, and here again before the tenant is.
  const isHere = () => ++looks !== 3;
  const { clock, log, erasure, steps, state } = await nodeWithEraser(0, { deleted: true, isHere });
  void erasure.run(address);
  await clock.advance(1_000);
  assert.equal(steps.includes('passivate'), false);
  assert.deepEqual([state().erasing.size, state().isGone], [shopIds.length - 1, false]);
  const line = 'a shop of a deleted tenant is not erased yet; it is tried again';
  assert.deepEqual([log.warnings, log.errors], [[line], []], 'a change of owner is no error');
  await clock.advance(10_000);
  assert.deepEqual([state().erasing.size, state().isGone, steps.at(-1)], [0, true, 'passivate']);
});

test('the archives of a deleted tenant’s numbers go in short steps, also if Redis was away between two', async () => {
  const redis = new MemoryRedis(new FakeClock());
  const { numbersLeft } = tenantKeys(golden.tenantId);
  const archives = Array.from({ length: 120 }, (_, index) => `${numbersLeft}:${index}`);
  for (const key of archives) redis.run(['SET', key, 'sealed']);
  redis.run(['SADD', numbersLeft, ...archives]);
  const sizes: number[] = [];
  const store: TenantErasureOptions['store'] = {
    read: readsBy((read) => {
      const members = redis.run(read) as string[];
      sizes.push(members.length);
      return members;
    }),
    async commit(_shard, writes) {
      sizes.push(writes.length);
      if (sizes.length === 6) throw new Error('Redis is away');
      for (const write of writes) redis.run(write);
    },
  };
  const { clock, erasure, state } = await nodeWithEraser(0, { deleted: true, store });
  void erasure.run(address);
  await clock.advance(60_000);
  assert.equal(state().isGone, true);
  assert.deepEqual(
    [...redis.values.keys()].filter((key) => archives.includes(key)),
    [],
  );
  assert.ok(Math.max(...sizes) <= 26, `${Math.max(...sizes)} at a time`);
});

test('a deleted tenant is not removed while a shop of it cannot be erased', async () => {
  const { clock, erasure, steps, state } = await nodeWithEraser(shopIds.length + 1, { deleted: true });
  void erasure.run(address);
  await clock.advance(5_000);
  assert.deepEqual([steps, state().isGone], [['keys'], false]);
  await clock.advance(60_000);
  assert.equal(state().isGone, true);
});

test('a call during an erasure is erased with it, and a call that waits for it at once', async () => {
  const { clock, erasure, tell, state } = await nodeWithEraser(shopIds.length);
  void erasure.run(address);
  await clock.advance(1_000);
  tell({ type: 'delete_tenant' });
  void erasure.run(address);
  await clock.advance(0);
  await clock.advance(0);
  assert.equal(state().isGone, true);
});

test('calls that still waited for a tenant when its erasure was decided leave nothing behind', async () => {
  const keyLimits = new KeyLimits();
  const state = await goldenTenant(golden, keyLimits);
  const deleted = { ...state, record: { ...state.record, deleted: true } };
  const { turn } = tenantTurns({ keyLimits, makeId: () => shopId });
  const [key] = state.apiKeys.values();
  assert.ok(key);
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
    const { writes = [] } = turn(deleted, command, { address, nowMs: 0, facts: NO_FACTS });
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
  const { turn } = tenantTurns({ keyLimits });
  const { writes = [] } = turn(large, { type: 'delete_tenant' }, { address, nowMs: 0, facts: NO_FACTS });
  checkWrites(address.shard, writes);
  assert.deepEqual(
    writes.filter(([command]) => command === 'SADD').flatMap((write) => write.slice(2)),
    ids,
  );
});

test('the actor of a deleted tenant lives until nothing of the tenant is left, and no longer', async () => {
  const keyLimits = new KeyLimits();
  const storedState = await goldenTenant(golden, keyLimits);
  const { turn, mustLive } = tenantTurns({ keyLimits, makeId: () => shopId });
  const webhook = {
    id: shopId,
    url: 'https://example.com/hooks',
    types: null,
    shops: null,
    secret: '',
    former: null,
    since: '0-0',
    createdAtMs: 0,
    enabledAtMs: 0,
    disabled: null,
  };
  const context = { address, nowMs: 0, facts: NO_FACTS };
  const living = { ...storedState, webhooks: new Map([[webhook.id, webhook]]) };
  let state: TenantState | undefined = turn(living, { type: 'delete_tenant' }, context).state;
  assert.deepEqual([mustLive(living), state && mustLive(state)], [true, true]);
  for (const erased of [...(state?.erasing ?? [])])
    state = state && turn(state, { type: 'shop_erased', shopId: erased }, context).state;
  assert.deepEqual([state?.erasing.size, state && mustLive(state)], [0, true]);
  state = state && turn(state, { type: 'tenant_erased' }, context).state;
  assert.equal(state && mustLive(state), false);
});

test('a webhook attempt that ends during the erasure of its shop is not recorded, nor is what is left to try', async () => {
  const keyLimits = new KeyLimits();
  const storedState = await goldenTenant(golden, keyLimits);
  const { turn } = tenantTurns({ keyLimits, makeId: () => shopId });
  const [living = ''] = storedState.shops.keys();
  const webhookId = shopId;
  const state = { ...storedState, webhooks: new Map([[webhookId, webhookRecord({ id: webhookId })]]) };
  const shops = [living, 'f'.repeat(24)];
  const attempts = shops.map((ofShop) => ({
    eventId: shopId,
    type: 'queue.paused',
    shopId: ofShop,
    atMs: 0,
    durationMs: 1,
    number: 1,
    status: 204,
    error: null,
    isDead: false,
  }));
  const progress = {
    ...firstProgress({ since: '0-0', enabledAtMs: 0 }),
    retries: shops.map((ofShop) => ({ place: '1-1', shopId: ofShop, attemptCount: 1, dueAtMs: 1 })),
    dead: shops.map((ofShop) => undeliveredEvent({ streamId: '1-1', shopId: ofShop })),
  };
  const command = {
    type: 'webhook_progress',
    loading: state.loading,
    webhookId,
    progress,
    attempts,
  } as const;
  const { writes = [] } = turn(state, command, { address, nowMs: 0, facts: NO_FACTS });
  const noted = writes.filter(([name]) => name === 'XADD').map((write) => write.at(-1));
  assert.deepEqual(noted, [living]);
  const left = decodeProgress(String(writes.find(([name]) => name === 'HSET')?.at(-1)));
  assert.deepEqual([left.retries, left.dead], [progress.retries.slice(0, 1), progress.dead.slice(0, 1)]);
});
