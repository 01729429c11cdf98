/** A tenant that was erased between a call's admission and its handling, and one that moved to another node. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tenantService } from '../../../actors/tenants/operations/tenant-service.ts';
import { UsageStorer } from '../../../actors/tenants/operations/usage-storer.ts';
import { tenantAddress } from '../../../actors/tenants/tenant-keys.ts';
import type { TenantOperations } from '../../../actors/tenants/tenant-operations.ts';
import { isOfMovedTenant } from '../../../http/owner/owner-reply.ts';
import { KeyLimits } from '../../../policy/limits/key-limits.ts';
import { type MemoryNode, memoryNode } from '../../runtime/memory-node.ts';
import { goldenTenant, putGolden, readGolden } from '../golden/golden-store.ts';
import { tenantTurns } from './tenant-turns.ts';

const golden = readGolden(1);
const { tenantId, shopId } = golden;
const [keyId = ''] = (await goldenTenant(golden)).apiKeys.keys();

type Call = (service: TenantOperations) => unknown;

const CALLS: Readonly<Record<Exclude<keyof TenantOperations, 'admit'>, Call>> = {
  identity: (service) => service.identity({ tenantId, keyId, permissions: new Set() }),
  listShops: (service) => service.listShops(tenantId, { page: 1, limit: 20 }),
  createShop: (service) => service.createShop(tenantId, { name: 'Late' }, undefined),
  findShop: (service) => service.findShop(tenantId, shopId),
  shopId: (service) => service.shopId(tenantId, shopId),
  listContacts: (service) =>
    service.listContacts(tenantId, { limit: 20, cursor: undefined, activeOnly: true }),
  declareContacts: (service) => service.declareContacts(tenantId, [{ phone: '+33611110001' }]),
  revokeContact: (service) => service.revokeContact(tenantId, '+33611110001'),
};

/** A node with the golden tenant, unless it is `isGone`. */
async function nodeWithTenant({ isGone = false } = {}): Promise<{
  readonly world: MemoryNode;
  readonly service: TenantOperations;
}> {
  const world = await memoryNode();
  if (!isGone) putGolden(golden, world.redis);
  const { actors, store } = world.node;
  const keyLimits = new KeyLimits();
  world.node.register(tenantTurns({ keyLimits }));
  const usage = new UsageStorer({ actors, clock: world.clock, keyLimits });
  const channelStatuses = (_: string, shops: readonly string[]) => Promise.resolve(shops.map(() => null));
  const service = tenantService({ actors, store, clock: world.clock, keyLimits, usage, channelStatuses });
  return { world, service };
}

/** Returns the code of each call's failure, by the name of the call. */
async function codes(service: TenantOperations, world: MemoryNode): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  for (const [name, call] of Object.entries(CALLS)) {
    const reply = (await world.outcome((async () => await call(service))())) as {
      readonly failure?: { readonly code: string };
    };
    found[name] = reply.failure?.code ?? reply;
  }
  return found;
}

const ALL_INVALID = Object.fromEntries(Object.keys(CALLS).map((name) => [name, 'API_KEY_INVALID']));

test('the key of an erased tenant is invalid, for every call', async () => {
  const { world, service } = await nodeWithTenant({ isGone: true });
  assert.deepEqual(await codes(service, world), ALL_INVALID);
});

test('the key of a tenant is invalid from the start of its erasure on', async () => {
  const { world, service } = await nodeWithTenant();
  await world.outcome(world.node.actors.ask(tenantAddress(tenantId), { type: 'delete_tenant' }));
  assert.deepEqual(await codes(service, world), ALL_INVALID);
});

test('a tenant that moved is never taken for an erased one: another owner may be asked', async () => {
  const { world, service } = await nodeWithTenant();
  await world.outcome(world.node.actors.state(tenantAddress(tenantId)) as Promise<unknown>);
  await world.outcome(world.node.stop());
  for (const [name, call] of Object.entries(CALLS)) {
    await assert.rejects(
      async () => await call(service),
      (thrown) => isOfMovedTenant(thrown),
      name,
    );
  }
});
