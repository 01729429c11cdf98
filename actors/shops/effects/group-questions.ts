import type { Actors } from '../../../runtime/actors.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { SessionHost } from '../../sessions/session-host.ts';
import { shopAddress } from '../records/shop-keys.ts';
import type { ShopReference } from '../shop-operations.ts';
import { committedShop } from '../state/committed-shop.ts';
import { awaitsGroups, channelState, liveGroups } from '../state/shop-state.ts';
import type { ChannelWaiters } from './channel-waiters.ts';
import { sessionOf } from './shop-effects.ts';

/**
 * How long a request waits for the requested groups, and for a session that reconnects. It stays below the two seconds
 * of a forwarded request. Milliseconds.
 */
const GROUPS_WAIT_MS = 1_500;

interface GroupQuestionsOptions {
  readonly actors: Pick<Actors, 'state'>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly host: Pick<SessionHost, 'order'>;
  readonly waiters: ChannelWaiters;
}

/**
 * Asks a shop's open session for its groups, or for one of them. A session that reconnects reports its groups first by
 * itself. Settles once the session reports, at another change of the channel, or after a timeout. Settles at once if
 * the group is known, no session is expected, or too many requests wait.
 */
export function groupQuestions({
  actors,
  clock,
  host,
  waiters,
}: GroupQuestionsOptions): (shop: ShopReference, groupId?: string) => Promise<void> {
  return async (shop, groupId) => {
    const untilMs = clock.monotonicMs() + GROUPS_WAIT_MS;
    const change = (): Promise<void> | undefined => {
      const leftMs = untilMs - clock.monotonicMs();
      return waiters.isClosed || leftMs <= 0 ? undefined : waiters.next(shop, leftMs);
    };
    const address = shopAddress(shop);
    let state = await committedShop(actors, address);
    while (state !== undefined && awaitsGroups(state)) {
      const notice = change();
      if (notice === undefined) return;
      await notice;
      state = await committedShop(actors, address);
    }
    if (state === undefined || channelState(state) !== 'connected') return;
    if (groupId !== undefined && liveGroups(state)?.some(({ id }) => id === groupId)) return;
    const notice = change();
    if (notice === undefined) return;
    host.order(sessionOf(address), { type: 'refresh_groups', groupId });
    await notice;
  };
}
