import { PERMISSIONS } from '../../../actors/permission.ts';
import type { ApiClient } from './api-client.ts';

/** A tenant with one shop and a key that may do everything and is not held back by its limits. */
export interface Account {
  readonly tenantId: string;
  readonly shopId: string;
  readonly apiKey: string;
}

/** Makes a tenant, a shop and a key as an operator does. */
export async function makeAccount(admin: ApiClient, name = 'Bakeries'): Promise<Account> {
  const tenant = await admin.post('/tenants', {
    name,
    plan: 'scale',
    owner: { name: 'Ana', notificationNumber: null },
  });
  const tenantId = String(tenant.data.id);
  const shop = await admin.post(`/tenants/${tenantId}/shops`, { name: 'Corner bakery' });
  const key = await admin.post(`/tenants/${tenantId}/keys`, {
    name: 'tests',
    permissions: PERMISSIONS,
    limits: { minute: 6_000, hour: 100_000, day: 1_000_000 },
  });
  return { tenantId, shopId: String(shop.data.id), apiKey: String(key.data.key) };
}
