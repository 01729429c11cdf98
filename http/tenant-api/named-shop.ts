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

/** Answers with the shop that a path names by id or name, among those of the caller's tenant. */
export function withShop<Answer>(
  request: {
    readonly caller: { readonly tenantId: string };
    readonly params: { readonly idOrName: string };
    readonly services: Pick<ApiServices, 'tenants'>;
  },
  answer: (shop: ShopReference) => MaybePromise<Answer>,
): MaybePromise<Answer | Failed<NamedShopCode>> {
  const { tenantId } = request.caller;
  const named = request.services.tenants.shopId(tenantId, request.params.idOrName);
  return named instanceof Promise
    ? named.then((found) => answerFor(tenantId, found, answer))
    : answerFor(tenantId, named, answer);
}

function answerFor<Answer>(
  tenantId: string,
  named: Outcome<string, NamedShopCode>,
  answer: (shop: ShopReference) => MaybePromise<Answer>,
): MaybePromise<Answer | Failed<NamedShopCode>> {
  return named.ok ? answer({ tenantId, shopId: named.value }) : named;
}
