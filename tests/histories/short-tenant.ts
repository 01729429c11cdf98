import { pause } from '../testbed/waiting.ts';
import { untilErased } from './erasures.ts';
import type { OpenedTenant } from './open-tenant.ts';
import type { Shop, Tenant } from './shop.ts';
import { act, openShop } from './shop-life.ts';

/** The steps of its shop: enough that messages wait, and that several of its records exist. */
const STEPS = 10;
/** How long at most until the next one is opened. */
const BETWEEN_MS = 20_000;

/** Opens tenants one after the other and erases each, some with waiting messages. Calls `lived` with each shop. */
export async function openAndErase(
  open: () => Promise<OpenedTenant>,
  lived: (tenant: Tenant, shop: Shop) => void,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const { tenant, apiKey } = await open();
    const shop = await openShop(tenant);
    await act(tenant, shop, STEPS);
    await Promise.all(shop.awaited);
    await eraseTenant(tenant, shop, apiKey);
    lived(tenant, shop);
    await pause(tenant.random() * BETWEEN_MS);
  }
}

async function eraseTenant({ id, fleet, history }: Tenant, shop: Shop, apiKey: string): Promise<void> {
  const { status: answered } = await fleet.admin.delete(`/tenants/${id}`);
  // If an answer was cut off, the erasure may be over when it is asked for again.
  if (![200, 202, 404].includes(answered)) throw new Error(`an erasure was answered ${answered}`);
  await untilErased(fleet, id, id);
  history.add({ kind: 'erased', shop: shop.id });
  history.add({ kind: 'erased_tenant', tenant: id });
  const left = (remainder: string): void =>
    history.add({ kind: 'left_after_erasure', of: 'tenant', name: id, what: remainder });
  const { status } = await fleet.admin.get(`/tenants/${id}`);
  if (status !== 404) left(`its record: ${status}`);
  for (const { nodeId, api } of fleet.nodes) {
    const answer = await api(apiKey)
      .get('/me')
      .catch(() => undefined);
    // A node that is away, or that cannot ask, proves nothing about the key.
    if (answer !== undefined && ![401, 503].includes(answer.status))
      left(`its key at ${nodeId}: ${answer.status}`);
  }
}
