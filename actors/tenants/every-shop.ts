import { shardCount } from '../../runtime/address.ts';
import { partsOf } from '../../runtime/parts.ts';
import type { Store } from '../../runtime/store.ts';
import { tenantKeys, tenantsOfShardKey } from './tenant-keys.ts';

/** Tenants whose shops one round trip reads. */
const READ_AT_A_TIME = 500;

/** A shop and its shard. */
interface StoredShop {
  readonly shard: number;
  readonly tenantId: string;
  readonly shopId: string;
}

/** Yields all shops that the store has, those of 500 tenants at a time. Rejects as `Store.read` does. */
export async function* everyShop(store: Pick<Store, 'read'>): AsyncGenerator<readonly StoredShop[]> {
  const shards = Array.from({ length: shardCount() }, (_, shard) => shard);
  const idsByShard = await store.read(shards.map((shard) => ['SMEMBERS', tenantsOfShardKey(shard)]));
  const tenants = idsByShard.flatMap((ids, shard) => ids.map((tenantId) => ({ shard, tenantId })));
  for (const part of partsOf(tenants, READ_AT_A_TIME)) {
    const shops = await store.read(part.map(({ tenantId }) => ['HKEYS', tenantKeys(tenantId).shops]));
    yield part.flatMap((tenant, index) => (shops[index] ?? []).map((shopId) => ({ ...tenant, shopId })));
  }
}
