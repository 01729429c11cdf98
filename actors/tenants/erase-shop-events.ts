import { readFileSync } from 'node:fs';
import type { Read, Store } from '../../runtime/store.ts';
import { tenantKeys } from './tenant-keys.ts';

const SCRIPT = readFileSync(new URL('./erase-shop-events.lua', import.meta.url), 'utf8');

/** Entries that one step looks at: about half a millisecond of Redis. */
const STEP_ENTRIES = 100;

/**
 * Erases a shop's events from its tenant's stream, and from the tries of webhooks, in short steps: other callers of Redis
 * come in between. Goes on where a call that did not end stopped. Unfenced, since of a shop that is being erased no events
 * are stored. One shop of a tenant at a time, since both streams are copied.
 */
export async function eraseShopEvents(
  store: Pick<Store, 'append'>,
  { tenantId, shopId }: { readonly tenantId: string; readonly shopId: string },
): Promise<void> {
  const { events, eventsKept, webhookAttempts, attemptsKept, streamErasures } = tenantKeys(tenantId);
  const streams = [
    [events, eventsKept],
    [webhookAttempts, attemptsKept],
  ] as const;
  for (const [stream, kept] of streams) {
    const step: Read = ['EVAL', SCRIPT, 3, stream, kept, streamErasures, shopId, STEP_ENTRIES];
    let left: unknown = 1;
    while (left === 1) [left] = await store.append([step]);
  }
}
