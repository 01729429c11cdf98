/** A shop is made once by an idempotency key, for as long as keys are kept and the shop is there. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tenantAddress } from '../../../actors/tenants/tenant-keys.ts';
import type { MadeShop } from '../../../actors/tenants/tenant-operations.ts';
import type { TenantState } from '../../../actors/tenants/tenant-state.ts';
import { KeyLimits } from '../../../policy/limits/key-limits.ts';
import { goldenTenant, readGolden } from '../golden/golden-store.ts';
import { NO_FACTS, tenantTurns } from './tenant-turns.ts';

const RETENTION_MS = 1_000;
const AT_MS = 1_800_000_000_000;

test('the key of a shop answers with it until its retention ends or its shop is gone', async () => {
  const golden = readGolden(1);
  const keyLimits = new KeyLimits();
  const loaded = await goldenTenant(golden, keyLimits);
  const emptyState: TenantState = {
    ...loaded,
    record: { ...loaded.record, plan: 'scale', owner: { name: 'Ada' } },
    shops: new Map(),
  };
  let made = 0;
  const behaviour = tenantTurns({
    keyLimits,
    makeId() {
      made += 1;
      return String(made).padStart(24, '0');
    },
    retentionMs: RETENTION_MS,
  });
  const create = (state: TenantState, name: string, nowMs = AT_MS, phone?: string) => {
    const command = {
      type: 'create_shop',
      name,
      phone,
      imported: false,
      idempotencyKey: 'k',
    } as const;
    const turn = behaviour.turn(state, command, {
      address: tenantAddress(golden.tenantId),
      nowMs,
      facts: NO_FACTS,
    });
    const reply = turn.reply as { readonly ok: true; readonly value: MadeShop };
    assert.ok(reply.ok, JSON.stringify(reply));
    return { value: reply.value, state: turn.state ?? state, writes: turn.writes ?? [] };
  };
  const first = create(emptyState, 'Bakery');
  assert.equal(first.value.isReplayed, false);
  const { id } = first.value.shop;

  // A restart reads the data that the commit wrote.
  const [, , , storedArgument] = first.writes[0] ?? [];
  const restored = { ...emptyState, shops: new Map([[id, JSON.parse(String(storedArgument))]]) };
  const again = create(restored, 'Bakery', AT_MS + RETENTION_MS - 1);
  assert.deepEqual([again.value.isReplayed, again.value.differs, again.value.shop.id], [true, false, id]);
  assert.deepEqual(again.writes, []);
  assert.equal(create(restored, 'Butcher').value.differs, true);
  assert.equal(create(restored, 'Bakery', AT_MS, '+41791234567').value.differs, true);

  assert.equal(create(restored, 'Butcher', AT_MS + RETENTION_MS).value.isReplayed, false);
  assert.equal(create(emptyState, 'Bakery').value.isReplayed, false);
});
