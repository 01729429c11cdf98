/**
 * Windows and quotas are stored once a second by a turn of the tenant. The runtime repeats a turn whose commit failed
 * once Redis answers (runtime/README.md). Then it must still have what it was to store.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UsageStorer } from '../../../actors/tenants/operations/usage-storer.ts';
import { tenantAddress } from '../../../actors/tenants/tenant-keys.ts';
import { KeyLimits } from '../../../policy/limits/key-limits.ts';
import type { Actors } from '../../../runtime/actors.ts';
import type { Address } from '../../../runtime/address.ts';
import { checkWrites } from '../../../runtime/ownership/turn-writes.ts';
import { FakeClock } from '../../testbed/fake-clock.ts';
import { goldenTenant, readGolden } from '../golden/golden-store.ts';
import { NO_FACTS, tenantTurns } from './tenant-turns.ts';

test('usage whose commit failed is stored by the next turn, and only once', async () => {
  const golden = readGolden(1);
  const address = tenantAddress(golden.tenantId);
  const keyLimits = new KeyLimits();
  const state = await goldenTenant(golden, keyLimits);
  const behaviour = tenantTurns({ keyLimits });
  const [key] = [...state.apiKeys.values()].filter(({ record }) => record.revokedAtMs === null);
  assert.ok(key);
  const nowMs = Date.parse('2027-01-01T00:00:00Z');
  keyLimits.take({ keyId: key.record.id, limits: key.record.limits, nowMs });
  const turn = () => behaviour.turn(state, { type: 'store_usage' }, { address, nowMs, facts: NO_FACTS });
  const stores = ({ writes = [] }: ReturnType<typeof turn>): boolean => writes.flat().includes(key.record.id);
  assert.ok(stores(turn()), 'its commit fails');
  const secondTurn = turn();
  assert.ok(stores(secondTurn), 'so it is tried again');
  secondTurn.committed?.();
  assert.ok(!stores(turn()));
});

test('the windows of thousands of keys are stored in writes that a script can take', async () => {
  const golden = readGolden(1);
  const address = tenantAddress(golden.tenantId);
  const keyLimits = new KeyLimits();
  const loaded = await goldenTenant(golden, keyLimits);
  const behaviour = tenantTurns({ keyLimits });
  const [key] = [...loaded.apiKeys.values()];
  assert.ok(key);
  const nowMs = Date.parse('2027-01-01T00:00:00Z');
  const keyIds = Array.from({ length: 4_500 }, (_, index) => String(index).padStart(24, '0'));
  for (const keyId of keyIds) keyLimits.take({ keyId, limits: key.record.limits, nowMs });
  const state = { ...loaded, apiKeys: new Map(keyIds.map((keyId) => [keyId, key])) };
  const { writes = [], committed } = behaviour.turn(
    state,
    { type: 'store_usage' },
    { address, nowMs, facts: NO_FACTS },
  );
  checkWrites(address.shard, writes);
  assert.ok(keyIds.every((keyId) => writes.some((write) => write.includes(keyId))));
  committed?.();
  assert.ok(keyIds.every((keyId) => keyLimits.changedState(keyId) === undefined));
});

test('usage that fell due while the lease had lapsed is reported to the tenant, which stores it when the lease is back', async () => {
  const clock = new FakeClock();
  const told: string[] = [];
  const here = new Set(['a'.repeat(24)]);
  const actors = {
    owns: () => false,
    peek: ({ id }: Address) => (here.has(id) ? {} : undefined),
    tell: ({ id }: Address, { type }: { type: string }) => told.push(`${type} ${id[0]}`),
  } as unknown as Actors;
  const usage = new UsageStorer({ actors, clock, keyLimits: new KeyLimits() });
  usage.storeSoon('a'.repeat(24));
  usage.storeSoon('b'.repeat(24));
  await clock.advance(1_000);
  assert.deepEqual(told, ['store_usage a'], 'the other lives elsewhere by now');
  usage.stop();
});
