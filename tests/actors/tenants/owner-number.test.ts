/** The first connection of a shop gives its tenant's owner a number, and lists of tenants show it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tenantAddress } from '../../../actors/tenants/tenant-keys.ts';
import { KeyLimits } from '../../../policy/limits/key-limits.ts';
import { goldenTenant, readGolden } from '../golden/golden-store.ts';
import { NO_FACTS, tenantTurns } from './tenant-turns.ts';

test('the number of the first connection is announced, and no later one changes anything', async () => {
  const golden = readGolden(1);
  const address = tenantAddress(golden.tenantId);
  const keyLimits = new KeyLimits();
  const state = await goldenTenant(golden, keyLimits);
  const behaviour = tenantTurns({ keyLimits });
  const context = { address, nowMs: 0, facts: NO_FACTS };
  const connect = (ownerNumber: string | null) =>
    behaviour.turn({ ...state, ownerNumber }, { type: 'owner_number', phone: '+33611110001' }, context);
  const first = connect(null);
  assert.equal(first.state?.ownerNumber, '+33611110001');
  assert.deepEqual(first.effects, [{ type: 'announce_tenant' }]);
  assert.deepEqual(connect('+33622220001'), {});
});
