import type { Failed, Outcome } from '../../actors/failure.ts';
import type { ShopReference } from '../../actors/shops/shop-operations.ts';
import type { NamedShopCode } from '../../actors/tenants/tenant-operations.ts';
import type { MaybePromise } from '../../runtime/maybe-promise.ts';
import type { ApiServices } from './services.ts';

/** The failures of finding the shop of a path. */
export const NAMED_SHOP_ERRORS = [
  'SHOP_NOT_FOUND',
  'AMBIGUOUS_SHOP',
] as const satisfies readonly NamedShopCode[];

/** Handles a request with the shop that its path names. Fails if the caller's tenant has no such shop, or several. */
export function withShop<Result>(
  request: {
    readonly caller: { readonly tenantId: string };
    readonly params: { readonly idOrName: string };
    readonly services: Pick<ApiServices, 'tenants'>;
  },
  handle: (shop: ShopReference) => MaybePromise<Result>,
): MaybePromise<Result | Failed<NamedShopCode>> {
  const { tenantId } = request.caller;
  const named = request.services.tenants.shopId(tenantId, request.params.idOrName);
  return named instanceof Promise
    ? named.then((outcome) => handleNamed(outcome, tenantId, handle))
    : handleNamed(named, tenantId, handle);
}

function handleNamed<Result>(
  outcome: Outcome<string, NamedShopCode>,
  tenantId: string,
  handle: (shop: ShopReference) => MaybePromise<Result>,
): MaybePromise<Result | Failed<NamedShopCode>> {
  return outcome.ok ? handle({ tenantId, shopId: outcome.value }) : outcome;
}
