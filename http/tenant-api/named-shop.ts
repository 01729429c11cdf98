import { done, type FailureCode, type Outcome } from '../../actors/failure.ts';
import type { ShopReference } from '../../actors/shops/shop-operations.ts';
import type { MaybePromise } from '../../runtime/maybe-promise.ts';
import type { ApiServices } from './services.ts';

/** The failures of finding the shop of a path. */
export const NAMED_SHOP_ERRORS = [
  'SHOP_NOT_FOUND',
  'AMBIGUOUS_SHOP',
] as const satisfies readonly FailureCode[];

/** The shop that a path names by id or name, among those of the caller's tenant. */
export function namedShop(request: {
  readonly caller: { readonly tenantId: string };
  readonly params: { readonly idOrName: string };
  readonly services: Pick<ApiServices, 'tenants'>;
}): MaybePromise<Outcome<ShopReference>> {
  const { tenantId } = request.caller;
  const named = request.services.tenants.shopId(tenantId, request.params.idOrName);
  return named instanceof Promise
    ? named.then((found) => referenceTo(tenantId, found))
    : referenceTo(tenantId, named);
}

function referenceTo(tenantId: string, named: Outcome<string>): Outcome<ShopReference> {
  return named.ok ? done({ tenantId, shopId: named.value }) : named;
}
