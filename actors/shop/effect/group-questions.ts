import type { SessionHost } from '../../session/session-host.ts';
import { shopAddress } from '../record/shop-keys.ts';
import type { ShopReference } from '../record/shop-operations.ts';
import type { ChannelWaiters } from './channel-waiters.ts';
import { sessionOf } from './shop-effects.ts';

/** How long a request waits for the groups it asked for, within the two seconds that a forwarded one has. */
const GROUPS_WAIT_MS = 1_500;

/**
 * Asks a shop's open session for its groups, or for one of them. Settles once the session told what it knows, after a
 * while without an answer, and at once where too many wait already.
 */
export function groupQuestions(parts: {
  readonly host: SessionHost;
  readonly waiters: ChannelWaiters;
}): (shop: ShopReference, groupId?: string) => Promise<void> {
  const { host, waiters } = parts;
  return async (shop, groupId) => {
    const told = waiters.closed ? undefined : waiters.next(shop, GROUPS_WAIT_MS);
    if (told === undefined) return;
    host.refreshGroups(sessionOf(shopAddress(shop)), groupId);
    await told;
  };
}
