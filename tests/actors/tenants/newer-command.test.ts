/** A command of a newer program, which an operator replays on this one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { goldenTenant, readGolden } from '../golden/golden-store.ts';
import { NO_FACTS, tenantTurns } from './tenant-turns.ts';

test('a tenant ignores a command whose type it does not know', async () => {
  const state = await goldenTenant(readGolden(1));
  const command = { type: 'of_a_newer_program' } as never;
  const address = { kind: 'tenant', id: state.tenantId, shard: 0 };
  assert.deepEqual(tenantTurns().turn(state, command, { address, nowMs: 1, facts: NO_FACTS }), {});
});
