import { shopAddress, shopKeys } from '../../actors/shops/records/shop-keys.ts';
import type { ShopReference } from '../../actors/shops/shop-operations.ts';
import { tenantAddress, tenantKeys } from '../../actors/tenants/tenant-keys.ts';
import { type Address, addressText, shardOf } from '../../runtime/address.ts';
import type { RuntimeNode } from '../../runtime/node/node.ts';
import { ADMIN_TOKEN, type ServiceFixture, startService, targetOf } from './service-fixture.ts';
import type { Target } from './target.ts';

/** A service with the tools to call it. */
export interface RealService
  extends Target,
    Pick<ServiceFixture, 'runtime' | 'redisUrl' | 'actors' | 'network'> {
  /** Calls the operators' API. */
  operator(method: string, path: string, json?: unknown): ReturnType<Target['admin']['call']>;
  /** Makes a shop's stored state unreadable, so that its actor is suspended. Resolves with a function that mends it. */
  breakShop(shop: ShopReference): Promise<() => Promise<void>>;
  stop(): Promise<void>;
}

/** Starts a service and opens its tools. */
export async function startRealService(): Promise<RealService> {
  const fixture = await startService();
  const target = await targetOf(fixture);
  const { redisUrl, runtime, actors, network } = fixture;
  return {
    ...target,
    redisUrl,
    runtime,
    actors,
    network,
    operator: (method, path, json) => target.admin.call(method, path, { key: ADMIN_TOKEN, json }),
    breakShop: (shop) => breakShop(runtime.node, shop),
    async stop() {
      target.close();
      await fixture.stop();
    },
  };
}

async function breakShop(node: RuntimeNode, shop: ShopReference): Promise<() => Promise<void>> {
  const { shop: key } = shopKeys(shardOf(shop.tenantId), shop.shopId);
  return breakHash(node, { address: shopAddress(shop), key, field: 'actor' });
}

/** Makes a tenant's keys unreadable, so that its actor is suspended. Resolves with a function that mends them. */
export function breakTenant(node: RuntimeNode, tenantId: string): Promise<() => Promise<void>> {
  const { apiKeys: key } = tenantKeys(tenantId);
  return breakHash(node, { address: tenantAddress(tenantId), key, field: 'broken' });
}

/** Puts broken JSON into a field that the actor reads when it starts, and restarts it until it is suspended. */
async function breakHash(
  node: RuntimeNode,
  { address, key, field }: { readonly address: Address; readonly key: string; readonly field: string },
): Promise<() => Promise<void>> {
  const { shard } = address;
  const [stored] = await node.store.read([['HGET', key, field]]);
  await node.store.commit(shard, [['HSET', key, field, '{']]);
  await node.actors.restart(address).catch(() => undefined);
  if (node.actors.snapshot(address)?.status !== 'suspended')
    throw new Error(`${addressText(address)} still runs`);
  return () =>
    node.store.commit(shard, [stored === null ? ['HDEL', key, field] : ['HSET', key, field, stored]]);
}
