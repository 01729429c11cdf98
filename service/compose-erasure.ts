import { MessageEraser } from '../actors/shops/erasure/message-eraser.ts';
import { PersonEraser } from '../actors/shops/erasure/person-eraser.ts';
import { ShopEraser, type ShopEraserOptions } from '../actors/shops/erasure/shop-eraser.ts';
import { TenantErasure, type TenantErasureOptions } from '../actors/tenants/tenant-erasure.ts';

/** Removes what calls and changes left in the logs. */
export interface ErasedLogs {
  /** Erases a tenant's request log, and its id from the log of what operators changed. */
  forgetTenant(tenantId: string): Promise<void>;
  /** Erases the id of a shop or person from the log of what operators changed. */
  forgetId(id: string): Promise<void>;
}

interface ErasureOptions
  extends Omit<ShopEraserOptions, 'forgetChanges'>,
    Pick<TenantErasureOptions, 'log' | 'directory' | 'refreshDirectory'> {
  readonly logs: ErasedLogs;
}

/** Puts together what erases tenants, their shops and people who wrote to them on this node. */
export function composeErasure({ logs, deadLetters, ...options }: ErasureOptions): TenantErasure {
  const forgetChanges = (id: string): Promise<void> => logs.forgetId(id);
  const shops = new ShopEraser({ ...options, deadLetters, forgetChanges });
  const people = new PersonEraser({ ...options, forgetChanges, messages: new MessageEraser(options) });
  return new TenantErasure({
    ...options,
    eraseShop: (shop) => shops.erase(shop),
    erasePerson: (person) => people.erase(person),
    eraseStrays: (tenantId) => shops.eraseStrays(tenantId),
    forgetDeadLetters: (address) => deadLetters.forget(address),
    forgetRequests: (tenantId) => logs.forgetTenant(tenantId),
  });
}
