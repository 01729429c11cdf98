import { until } from '../../testbed/waiting.ts';
import type { ApiClient } from './api-client.ts';

/** Erases a tenant, or a shop by its path, and waits for the end where a busy machine takes longer than a second. */
export async function erase(admin: ApiClient, path: string): Promise<void> {
  const { status } = await admin.delete(path);
  if (status === 200) return;
  if (status !== 202) throw new Error(`the erasure of ${path} was answered ${status}`);
  const [tenant] = path.split(/\/(?:shops|people)\//);
  await until(`${path} is erased`, async () => (await admin.get(`${tenant}/erasure`)).status === 404);
}
