import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  decodeProgress,
  undeliveredEvent,
} from '../../../actors/tenants/stored-webhooks/webhook-progress.ts';
import type { TenantCommand } from '../../../actors/tenants/tenant-commands.ts';
import { TenantErasure, type TenantErasureOptions } from '../../../actors/tenants/tenant-erasure.ts';
import { tenantAddress } from '../../../actors/tenants/tenant-keys.ts';
import type { TenantState } from '../../../actors/tenants/tenant-state.ts';
import { firstProgress } from '../../../actors/webhooks/progress.ts';
import type { Store } from '../../../runtime/store.ts';
import { FakeClock } from '../../testbed/fake-clock.ts';
import { fakeOf } from '../../testbed/fake-of.ts';
import { QuietLog } from '../../testbed/quiet-log.ts';
import { readsBy } from '../../testbed/reads-by.ts';
import { goldenTenant, readGolden } from '../golden/golden-store.ts';
import { tenantTurns } from '../tenants/tenant-turns.ts';
import { webhookRecord } from './endpoint-world.ts';

/** At most this many values of 60 KB may be read in one turn of the event loop. */
const MOST_AT_A_TIME = 20;
const ids = Array.from({ length: 1_000 }, (_, index) => `hook-${index}`);

test('the entries of an erased shop leave 1,000 endpoints a few at a time, and those of others stay', async () => {
  const golden = readGolden(1);
  const address = tenantAddress(golden.tenantId);
  const [erased, kept] = ['f'.repeat(24), golden.shopId];
  const deadOf = (shopId: string) => undeliveredEvent({ streamId: '1-1', shopId });
  const fullText = JSON.stringify({
    ...firstProgress({ since: '1-1', enabledAtMs: 0 }),
    dead: [erased, kept].map(deadOf),
  });
  const stored = new Map(ids.map((id) => [id, fullText]));
  const reads: number[] = [];
  const store = fakeOf<Store>({
    read: readsBy(([command, , ...fields]) => {
      const flat = command === 'HGETALL';
      reads.push(flat ? stored.size : fields.length);
      return flat ? [...stored].flat() : fields.map((field) => stored.get(String(field)) ?? null);
    }),
  });
  let state: TenantState = {
    ...(await goldenTenant(golden)),
    erasing: new Set([erased]),
    webhooks: new Map(ids.map((id) => [id, webhookRecord({ id })])),
  };
  const { readFacts, turn } = tenantTurns();
  const tell = async (command: TenantCommand): Promise<void> => {
    const facts = await readFacts?.(state, command, { address, store, nowMs: 0 });
    assert.ok(facts);
    const { state: next = state, writes = [] } = turn(state, command, { address, nowMs: 0, facts });
    state = next;
    for (const [command_, , id, text] of writes)
      if (command_ === 'HSET' && text !== undefined) stored.set(String(id), String(text));
  };
  const erasure = new TenantErasure({
    actors: { peek: () => state, ask: (_address: unknown, command: TenantCommand) => tell(command) },
    clock: new FakeClock(),
    log: new QuietLog(),
    eraseShop: ({ shopId }: { readonly shopId: string }) => tell({ type: 'shop_erased', shopId }),
  } as unknown as TenantErasureOptions);

  await erasure.run(address);

  assert.equal(state.erasing.size, 0);
  for (const text of stored.values()) assert.deepEqual(decodeProgress(text).dead, [deadOf(kept)]);
  assert.ok(Math.max(...reads) <= MOST_AT_A_TIME, `${Math.max(...reads)} at a time`);
});
