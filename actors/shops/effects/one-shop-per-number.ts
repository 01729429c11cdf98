import type { Actors } from '../../../runtime/actors.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { committedTenant } from '../../tenants/committed-tenant.ts';
import { shopAddress } from '../records/shop-keys.ts';
import type { ShopReference } from '../shop-operations.ts';
import { activeShop } from '../state/committed-shop.ts';
import { channelState } from '../state/shop-state.ts';

/**
 * Checks after a shop connected that no other shop of its tenant has the same number. Each turn checks before it
 * decides, but two shops that connect at the same moment do not see each other. All shops of a tenant live on one node,
 * so the later commit finds both. The shop that was paired first keeps the number. Call this once the commit that
 * connects the shop with this number succeeded.
 */
export function confirmNumber(
  shop: ShopReference,
  phone: string,
  { actors, log }: { readonly actors: Actors; readonly log: Logger },
): void {
  confirm(shop, phone, actors).catch((error: unknown) =>
    log.warn({ ...shop, err: error }, 'could not check whether two shops have one number'),
  );
}

async function confirm({ tenantId }: ShopReference, phone: string, actors: Actors): Promise<void> {
  const tenant = await committedTenant(actors, tenantId);
  const connected = [...(tenant?.shops.keys() ?? [])].flatMap((shopId) => {
    const state = activeShop(actors, shopAddress({ tenantId, shopId }));
    const isConnected = state !== undefined && channelState(state) === 'connected';
    if (!isConnected || state.channel.context.phone !== phone) return [];
    return [{ shopId, pairedAtMs: state.channel.context.pairedAtMs ?? 0 }];
  });
  const [first, ...otherShops] = connected.sort(
    (left, right) => left.pairedAtMs - right.pairedAtMs || (left.shopId < right.shopId ? -1 : 1),
  );
  if (first === undefined) return;
  for (const { shopId } of otherShops)
    actors.tell(shopAddress({ tenantId, shopId }), { type: 'number_taken', phone, by: first.shopId });
}
