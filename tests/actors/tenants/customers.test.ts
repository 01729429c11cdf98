import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tenantAddress } from '../../../actors/tenants/tenant-keys.ts';
import type { Store } from '../../../runtime/store.ts';
import { fakeOf } from '../../testbed/fake-of.ts';
import { readsBy } from '../../testbed/reads-by.ts';
import { goldenTenant, readGolden } from '../golden/golden-store.ts';
import { tenantTurns } from './tenant-turns.ts';

test('added customers are counted once each, and only if they are new', async () => {
  const golden = readGolden(1);
  const address = tenantAddress(golden.tenantId);
  const state = await goldenTenant(golden);
  const behaviour = tenantTurns();
  const phones = ['+33600000001', '+33600000002', '+33600000003', '+33600000003'];
  const command = { type: 'add_customers', phones } as const;
  const asked: unknown[] = [];
  const store = fakeOf<Store>({
    read: readsBy((read) => {
      asked.push(read);
      return [1, 0, 0, 0];
    }),
  });
  const facts = await behaviour.readFacts(state, command, { address, store, nowMs: 0 });
  const turn = behaviour.turn(state, command, { address, nowMs: 0, facts });
  assert.deepEqual(asked, [['SMISMEMBER', state.keys.customers, ...phones]]);
  assert.deepEqual(turn.reply, { ok: true, value: { added: 2 } });
});

test('a customer is removed by either form of their number', async () => {
  const golden = readGolden(1);
  const address = tenantAddress(golden.tenantId);
  const state = await goldenTenant(golden);
  const behaviour = tenantTurns();
  const [short, long] = ['+551187654321', '+5511987654321'];
  const command = { type: 'remove_customers', phones: [short] } as const;
  const store = fakeOf<Store>({
    read: readsBy(([, , ...phones]) => phones.map((phone) => Number(phone === long))),
  });
  const facts = await behaviour.readFacts(state, command, { address, store, nowMs: 0 });
  const turn = behaviour.turn(state, command, { address, nowMs: 0, facts });
  assert.deepEqual(turn.writes, [['SREM', state.keys.customers, short, long]]);
  assert.deepEqual(turn.reply, { ok: true, value: { removed: 1 } });
});
