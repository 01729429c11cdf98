import { PERMISSIONS } from '../../../actors/permission.ts';
import { apiClient } from './api-client.ts';
import type { ServiceStack } from './service-stack.ts';

/** Makes the platform's own tenant with one shop. Returns the stack as that tenant sees it. */
export async function makePlatform(stack: ServiceStack): Promise<ServiceStack> {
  const { admin } = stack;
  const tenant = await admin.post('/tenants', { name: 'Platform', plan: 'scale', platform: true });
  const tenantId = String(tenant.data.id);
  const shop = await admin.post(`/tenants/${tenantId}/shops`, { name: 'Pool 1' });
  const limits = { minute: 6_000, hour: 100_000, day: 1_000_000 };
  const key = await admin.post(`/tenants/${tenantId}/keys`, { name: 'p', permissions: PERMISSIONS, limits });
  const apiKey = String(key.data.key);
  return { ...stack, api: apiClient(stack.apiUrl, apiKey), tenantId, shopId: String(shop.data.id), apiKey };
}
