import { shardCount } from '../../runtime/address.ts';
import { partsOf } from '../../runtime/parts.ts';
import type { Store } from '../../runtime/store.ts';
import { tenantKeys, tenantsOfShardKey } from './tenant-keys.ts';

/** Tenants whose shops one round trip reads. */
const BATCH = 500;

/** A shop and its shard. */
interface PlacedShop {
  readonly shard: number;
  readonly tenantId: string;
  readonly shopId: string;
}

/** All shops there are, as the store has them, some hundred at a time. Rejects as `Store.read` does. */
export async function* everyShop(store: Pick<Store, 'read'>): AsyncGenerator<readonly PlacedShop[]> {
  const shards = Array.from({ length: shardCount() }, (_, shard) => shard);
  const shopTexts = await store.read(shards.map((shard) => ['SMEMBERS', tenantsOfShardKey(shard)]));
  const tenants = shopTexts.flatMap((ids, shard) => ids.map((tenantId) => ({ shard, tenantId })));
  for (const batch of partsOf(tenants, BATCH)) {
    const shops = await store.read(batch.map(({ tenantId }) => ['HKEYS', tenantKeys(tenantId).shops]));
    yield batch.flatMap((tenant, index) => (shops[index] ?? []).map((shopId) => ({ ...tenant, shopId })));
  }
}
