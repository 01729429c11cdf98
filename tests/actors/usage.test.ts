/**
 * Windows and quotas are stored once a second by a turn of the tenant. A turn whose commit failed is taken again by the
 * runtime once Redis answers (runtime/README.md); then it must still have what it was to store.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tenantBehaviour } from '../../actors/tenant/tenant-behaviour.ts';
import { tenantAddress } from '../../actors/tenant/tenant-keys.ts';
import { loadTenant } from '../../actors/tenant/tenant-state.ts';
import { KeyLimits } from '../../policy/key-limits.ts';
import { goldenStore, readGolden } from './golden/golden-store.ts';

test('usage whose commit failed is stored by the next turn, and only once', async () => {
  const golden = readGolden(1);
  const address = tenantAddress(golden.tenantId);
  const keyLimits = new KeyLimits();
  const state = await loadTenant(address, goldenStore(golden), keyLimits);
  assert.ok(state);
  const behaviour = tenantBehaviour({ keyLimits, makeId: () => '', perform: () => undefined });
  const [key] = [...state.apiKeys.values()].filter(({ record }) => record.revokedAtMs === null);
  assert.ok(key);
  const nowMs = Date.parse('2027-01-01T00:00:00Z');
  keyLimits.take({ keyId: key.record.id, limits: key.record.limits, nowMs });
  const turn = () =>
    behaviour.turn(state, { type: 'store_usage' }, { address, nowMs, facts: new Map<string, never>() });
  const stores = ({ writes = [] }: ReturnType<typeof turn>): boolean => writes.flat().includes(key.record.id);
  assert.ok(stores(turn()), 'its commit fails');
  const again = turn();
  assert.ok(stores(again), 'so it is tried again');
  again.committed?.();
  assert.ok(!stores(turn()));
});
