import { MessageEraser } from '../actors/shops/erasure/message-eraser.ts';
import { PersonEraser } from '../actors/shops/erasure/person-eraser.ts';
import { ShopEraser, type ShopEraserOptions } from '../actors/shops/erasure/shop-eraser.ts';
import { TenantErasure, type TenantErasureOptions } from '../actors/tenants/tenant-erasure.ts';
import type { AuditLog } from '../http/audit-log/audit-log.ts';
import type { RequestLog } from '../http/request-log/request-log.ts';

/** The logs of calls and of operators' changes, from which erased ids are removed. */
export interface ErasedLogs {
  readonly requestLog: Pick<RequestLog, 'forget'>;
  readonly audit: Pick<AuditLog, 'forget'>;
}

interface ErasureOptions
  extends Omit<ShopEraserOptions, 'forgetChanges'>,
    Pick<TenantErasureOptions, 'log' | 'keyIndex' | 'refreshDirectory'>,
    ErasedLogs {}

/** Puts together what erases tenants, their shops and people who wrote to them on this node. */
export function composeErasure({ deadLetters, ...options }: ErasureOptions): TenantErasure {
  const { requestLog, audit } = options;
  const forgetChanges = (id: string): Promise<void> => audit.forget(id);
  const shops = new ShopEraser({ ...options, deadLetters, forgetChanges });
  const people = new PersonEraser({ ...options, forgetChanges, messages: new MessageEraser(options) });
  return new TenantErasure({
    ...options,
    eraseShop: (shop) => shops.erase(shop),
    erasePerson: (person) => people.erase(person),
    eraseStrays: (tenantId) => shops.eraseStrays(tenantId),
    forgetDeadLetters: (address) => deadLetters.forget(address),
    async forgetRequests(tenantId) {
      await requestLog.forget(tenantId);
      await audit.forget(tenantId);
    },
  });
}
