import { shardOf } from '../../../runtime/address.ts';
import type { Store } from '../../../runtime/store.ts';
import type { ShopView } from '../../tenant/tenant-operations.ts';
import { shopKeys } from '../record/shop-keys.ts';

/** The channel status of a tenant's shops in the order of their ids; null until a shop was connected once. */
export async function readChannelStatuses(
  store: Pick<Store, 'read'>,
  tenantId: string,
  shopIds: readonly string[],
): Promise<readonly ShopView['channelStatus']['msgapp'][]> {
  const shard = shardOf(tenantId);
  const statuses = await store.read(shopIds.map((id) => ['HGET', shopKeys(shard, id).shop, 'msgapp']));
  // An empty text, too, stands for a shop that was never connected.
  return statuses.map((status) => (status || null) as ShopView['channelStatus']['msgapp']);
}
