import { readFileSync } from 'node:fs';
import type { Store } from '../../runtime/store.ts';
import { tenantKeys } from './tenant-keys.ts';

const SCRIPT = readFileSync(new URL('./erase-shop-events.lua', import.meta.url), 'utf8');

/**
 * Erases a shop's events from its tenant's stream, and from the tries of webhooks. Each in one step of Redis, since other
 * shops of the tenant store theirs meanwhile; unfenced, since of a shop that is being erased none are stored.
 */
export async function eraseShopEvents(
  store: Pick<Store, 'append'>,
  { tenantId, shopId }: { readonly tenantId: string; readonly shopId: string },
): Promise<void> {
  const { events, webhookAttempts } = tenantKeys(tenantId);
  await store.append([events, webhookAttempts].map((key) => ['EVAL', SCRIPT, 1, key, shopId]));
}
