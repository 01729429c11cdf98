import { ShopEraser, type ShopEraserOptions } from '../actors/shops/effects/shop-eraser.ts';
import { TenantErasure, type TenantErasureOptions } from '../actors/tenants/tenant-erasure.ts';

/** Removes what calls and changes left in the logs. */
export interface ErasedLogs {
  /** Erases a tenant's request log, and its id from the log of what operators changed. */
  forgetTenant(tenantId: string): Promise<void>;
  /** Erases a shop's id from the log of what operators changed. */
  forgetShop(shopId: string): Promise<void>;
}

interface ErasureParts
  extends Omit<ShopEraserOptions, 'forgetChanges'>,
    Pick<TenantErasureOptions, 'log' | 'directory' | 'refreshDirectory'> {
  readonly logs: ErasedLogs;
}

/** Puts together what erases tenants and their shops on this node. */
export function composeErasure({ logs, deadLetters, ...parts }: ErasureParts): TenantErasure {
  const forgetChanges = (shopId: string): Promise<void> => logs.forgetShop(shopId);
  const shops = new ShopEraser({ ...parts, deadLetters, forgetChanges });
  return new TenantErasure({
    ...parts,
    eraseShop: (shop) => shops.erase(shop),
    eraseStrays: (tenantId) => shops.eraseStrays(tenantId),
    forgetDeadLetters: (address) => deadLetters.forget(address),
    forgetRequests: (tenantId) => logs.forgetTenant(tenantId),
  });
}
