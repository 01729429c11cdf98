import type { Actors } from '../../../runtime/actors.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Store } from '../../../runtime/store.ts';
import { done, failed, type Outcome } from '../../failure.ts';
import type { ShopOperations, ShopReference } from '../shop-operations.ts';
import { readSchedule, type ScheduledDraft, scheduledView } from '../state/scheduled-sends.ts';
import { shopAddress } from '../state/shop-keys.ts';
import type { ShopState } from '../state/shop-state.ts';
import type { ShopCommand } from '../turns/builder/shop-commands.ts';

const NO_SHOP = failed('SHOP_NOT_FOUND');

/** Makes the operations on a shop's scheduled sends. */
export function scheduleOperations(parts: {
  readonly actors: Pick<Actors, 'ask' | 'state'>;
  readonly store: Store;
  readonly clock: Pick<Clock, 'wallMs'>;
  readonly retentionMs: number;
}): Pick<ShopOperations, 'schedule' | 'listScheduled' | 'scheduled' | 'unschedule'> {
  const { actors, store, clock, retentionMs } = parts;
  const ask = <Value>(shop: ShopReference, command: ShopCommand): Promise<Outcome<Value>> =>
    actors.ask<Outcome<Value>>(shopAddress(shop), command, NO_SHOP);
  return {
    schedule: (shop, draft) => ask(shop, { type: 'schedule', draft }),
    unschedule: (shop, scheduledId) => ask(shop, { type: 'unschedule', scheduledId }),
    async scheduled(shop, scheduledId) {
      const state = await actors.state<ShopState>(shopAddress(shop));
      if (state === undefined) return NO_SHOP;
      const reading = { keys: state.keys, store, nowMs: clock.wallMs(), retentionMs };
      const stored = await readSchedule(scheduledId, reading);
      return stored === undefined ? failed('SCHEDULED_NOT_FOUND') : done(scheduledView(shop.shopId, stored));
    },
    async listScheduled(shop, { limit, cursor }) {
      const state = await actors.state<ShopState>(shopAddress(shop));
      if (state === undefined) return NO_SHOP;
      const ids = state.scheduled
        .map(({ id }) => id)
        .filter((id) => cursor === undefined || id < cursor.toLowerCase())
        .toSorted()
        .reverse();
      const page = ids.slice(0, limit);
      if (page.length === 0) return done({ items: [], nextCursor: null });
      const [texts] = (await store.read([['HMGET', state.keys.scheduledDrafts, ...page]])) as [
        (string | null)[],
      ];
      const items = page.flatMap((id, index) => {
        const text = texts[index];
        if (text == null) return [];
        const draft = JSON.parse(text) as ScheduledDraft;
        return [scheduledView(shop.shopId, { id, draft, end: undefined })];
      });
      return done({ items, nextCursor: ids.length > limit ? (page.at(-1) ?? null) : null });
    },
  };
}
