import { readFileSync } from 'node:fs';
import type { Store } from '../../runtime/store.ts';
import { tenantKeys } from './tenant-keys.ts';

const SCRIPT = readFileSync(new URL('./erase-shop-events.lua', import.meta.url), 'utf8');

/**
 * Erases a shop's events from its tenant's stream. In one step of Redis, since other shops of the tenant store events
 * meanwhile; unfenced, since a shop that is being erased stores none.
 */
export async function eraseShopEvents(
  store: Pick<Store, 'append'>,
  { tenantId, shopId }: { readonly tenantId: string; readonly shopId: string },
): Promise<void> {
  await store.append([['EVAL', SCRIPT, 1, tenantKeys(tenantId).events, shopId]]);
}
