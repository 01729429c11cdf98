/**
 * Contacts whose number has two forms are one person, also if 0.1.0 kept a record for each form. The list,
 * the answer to a revocation, the policy and a status agree.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRecipient } from '../../../../actors/shops/reading/recipient-facts.ts';
import { shopKeys } from '../../../../actors/shops/records/shop-keys.ts';
import { activePhones, type ContactRecord } from '../../../../actors/tenants/contact-record.ts';
import { listContacts } from '../../../../actors/tenants/operations/contact-list.ts';
import type { TenantCommand } from '../../../../actors/tenants/tenant-commands.ts';
import { tenantAddress } from '../../../../actors/tenants/tenant-keys.ts';
import { personClassAt } from '../../../../policy/recipient-class.ts';
import { HOUR_MS } from '../../../../runtime/durations.ts';
import { objectIdGenerator } from '../../../../runtime/object-id.ts';
import { MemoryRedis } from '../../../runtime/memory-redis.ts';
import { seededRandom } from '../../../testbed/seeded-random.ts';
import { goldenTenant, readGolden } from '../../golden/golden-store.ts';
import { tenantTurns } from '../../tenants/tenant-turns.ts';
import { storeOf } from '../store-of.ts';

const [SHORT, LONG] = ['+553196348800', '+5531996348800'];
const FORMS = [SHORT, LONG] as const;
const START_MS = Date.parse('2027-03-01T08:00:00Z');
const golden = readGolden(1);
const address = tenantAddress(golden.tenantId);

type Times = Partial<Pick<ContactRecord, 'createdAtMs' | 'revokedAtMs' | 'expiresAtMs'>>;

/** Returns a tenant with these stored records, one a form, made in this order. */
async function tenantWith(...stored: readonly (readonly [phone: string, times: Times])[]) {
  const state = await goldenTenant(golden);
  const { keys } = state;
  const redis = new MemoryRedis({ monotonicMs: () => 0, wallMs: () => 0 });
  for (const [index, [phone, times]] of stored.entries()) {
    const id = `65f0000000000000000000c${index}`;
    const unset = { note: null, expiresAtMs: null, createdAtMs: START_MS, revokedAtMs: null };
    redis.run(['HSET', keys.contacts, phone, JSON.stringify({ id, phone, ...unset, ...times })]);
    redis.run(['ZADD', keys.contactOrder, 0, `${id}:${phone}`]);
  }
  const store = storeOf(redis);
  const behaviour = tenantTurns({ makeId: objectIdGenerator(seededRandom(1)) });
  return {
    async command(command: TenantCommand, nowMs: number): Promise<Record<string, unknown>> {
      const facts = await behaviour.readFacts(state, command, { address, store, nowMs });
      const { writes = [], reply, committed } = behaviour.turn(state, command, { address, nowMs, facts });
      for (const write of writes) redis.run(write);
      committed?.();
      return (reply as { readonly value: Record<string, unknown> }).value;
    },
    async list(nowMs: number) {
      const query = { activeOnly: false, limit: 20, cursor: undefined };
      return (await listContacts({ keys, store, nowMs }, query)).items;
    },
    /** The class of either form, and whether a status is shown to the person. */
    async classes(nowMs: number): Promise<readonly [string, string, boolean]> {
      const place = { shard: address.shard, keys: shopKeys(address.shard, golden.shopId), people: keys };
      const [short = '', long = ''] = await Promise.all(
        FORMS.map(async (phone) => {
          const { isCustomer, declaration } = await readRecipient(place, phone, store);
          return personClassAt({ isCustomer, lastInboundAtMs: null, declaration }, nowMs);
        }),
      );
      const active = activePhones(redis.run(['HVALS', keys.contacts]) as string[], nowMs);
      return [short, long, active.length > 0];
    },
    declaredToday: (nowMs: number) => state.declared.liveAt(nowMs).reduce((sum, { count }) => sum + count, 0),
  };
}

const contact = (phone: string, expiresAt?: string) => ({ phone, note: undefined, expiresAt });
const COLD = ['cold', 'cold', false];
const DECLARED = ['declared', 'declared', true];

for (const [one, other] of [FORMS, [LONG, SHORT]] as const) {
  test(`declared as ${one}, revoked as ${other}: revoked, and declared again under the same id`, async () => {
    const tenant = await tenantWith();
    await tenant.command({ type: 'declare', contacts: [contact(one)] }, START_MS);
    const [declared] = await tenant.list(START_MS);
    assert.deepEqual(await tenant.classes(START_MS), DECLARED);
    const revoked = await tenant.command({ type: 'revoke_contact', phone: other }, START_MS + 1);
    assert.deepEqual(await tenant.classes(START_MS + 1), COLD);
    assert.deepEqual(await tenant.list(START_MS + 1), [revoked]);
    assert.deepEqual([revoked.id, revoked.phone, revoked.active], [declared?.id, one, false]);
    await tenant.command({ type: 'declare', contacts: [contact(other)] }, START_MS + 2);
    assert.deepEqual(await tenant.list(START_MS + 2), [{ ...declared, phone: other }]);
    assert.deepEqual(await tenant.classes(START_MS + 2), DECLARED);
  });

  test(`${one} and ${other} in one batch are one new contact, with the fields of the last item`, async () => {
    const tenant = await tenantWith();
    const ends = new Date(START_MS + HOUR_MS).toISOString();
    const contacts = [contact(one), contact(other, ends)];
    const { accepted } = await tenant.command({ type: 'declare', contacts }, START_MS);
    assert.deepEqual([accepted, tenant.declaredToday(START_MS)], [1, 1]);
    const items = await tenant.list(START_MS);
    assert.deepEqual(
      items.map(({ phone, expiresAt }) => [phone, expiresAt]),
      [[other, ends]],
    );
    await tenant.command({ type: 'declare', contacts: [contact(one)] }, START_MS);
    assert.equal(tenant.declaredToday(START_MS), 1, 'renewing an active one is free');
  });

  test(`stored before for ${one} and for ${other}: both are revoked, and declared, with either`, async () => {
    for (const named of FORMS) {
      const tenant = await tenantWith([one, {}], [other, { createdAtMs: START_MS + 1 }]);
      assert.deepEqual(await tenant.classes(START_MS + 1), DECLARED);
      await tenant.command({ type: 'revoke_contact', phone: named }, START_MS + 2);
      assert.deepEqual(await tenant.classes(START_MS + 2), COLD);
      assert.deepEqual(await stateOf(tenant, START_MS + 2), [
        [one, false, null, START_MS + 2],
        [other, false, null, START_MS + 2],
      ]);
      const ends = new Date(START_MS + HOUR_MS).toISOString();
      const declare = { type: 'declare', contacts: [contact(named, ends)] } as const;
      assert.equal((await tenant.command(declare, START_MS + 3)).accepted, 1);
      assert.deepEqual(await tenant.classes(START_MS + 3), DECLARED);
      assert.deepEqual(await stateOf(tenant, START_MS + 3), [
        [one, true, ends, null],
        [other, true, ends, null],
      ]);
      assert.deepEqual(await tenant.classes(START_MS + HOUR_MS), COLD);
    }
  });

  test(`stored before: ${one} as active, ${other} as revoked: the later entry counts for both`, async () => {
    const after = await tenantWith([one, {}], [other, { revokedAtMs: START_MS + 1 }]);
    assert.deepEqual(await after.classes(START_MS + 2), COLD);
    assert.deepEqual(await stateOf(after, START_MS + 2), [
      [one, false, null, START_MS + 1],
      [other, false, null, START_MS + 1],
    ]);
    const before = await tenantWith([other, { revokedAtMs: START_MS }], [one, { createdAtMs: START_MS + 1 }]);
    assert.deepEqual(await before.classes(START_MS + 2), DECLARED);
    assert.deepEqual(await stateOf(before, START_MS + 2), [
      [other, true, null, null],
      [one, true, null, null],
    ]);
  });
}

test('if both forms were stored in one batch, the last one sets the end of the declaration', async () => {
  const tenant = await tenantWith([SHORT, {}], [LONG, { expiresAtMs: START_MS + HOUR_MS }]);
  assert.deepEqual(await tenant.classes(START_MS), DECLARED);
  assert.deepEqual(await tenant.classes(START_MS + HOUR_MS), COLD);
});

async function stateOf(tenant: Awaited<ReturnType<typeof tenantWith>>, nowMs: number): Promise<unknown[]> {
  const items = await tenant.list(nowMs);
  return items.map(({ phone, active, expiresAt, revokedAt }) => [
    phone,
    active,
    expiresAt,
    revokedAt === null ? null : Date.parse(revokedAt),
  ]);
}
