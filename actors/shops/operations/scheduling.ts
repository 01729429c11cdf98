import type { Actors } from '../../../runtime/actors.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Store } from '../../../runtime/store.ts';
import { done, failed } from '../../failure.ts';
import { readSchedule, scheduledView } from '../reading/schedule-reading.ts';
import type { ShopOperations } from '../shop-operations.ts';
import type { ScheduledDraft } from '../state/scheduled-sends.ts';
import { askShop, fromShop } from './ask-shop.ts';
import { idPage } from './id-page.ts';

/** Makes the operations on a shop's scheduled sends. */
export function scheduleOperations(options: {
  readonly actors: Pick<Actors, 'ask' | 'state'>;
  readonly store: Store;
  readonly clock: Pick<Clock, 'wallMs'>;
  readonly retentionMs: number;
}): Pick<ShopOperations, 'schedule' | 'listScheduled' | 'scheduled' | 'unschedule'> {
  const { actors, store, clock, retentionMs } = options;
  return {
    schedule: (shop, draft) => askShop(actors, shop, { type: 'schedule', draft }),
    unschedule: (shop, scheduledId) => askShop(actors, shop, { type: 'unschedule', scheduledId }),
    scheduled: (shop, scheduledId) =>
      fromShop(actors, shop, async ({ keys }) => {
        const schedule = await readSchedule(scheduledId, { keys, store, nowMs: clock.wallMs(), retentionMs });
        if (schedule === undefined) return failed('SCHEDULED_NOT_FOUND');
        return done(scheduledView(shop.shopId, schedule));
      }),
    listScheduled: (shop, query) =>
      fromShop(actors, shop, async ({ scheduled, keys }) => {
        const newestFirst = scheduled
          .map(({ id }) => id)
          .toSorted()
          .reverse();
        const { ids, nextCursor } = idPage(newestFirst, query);
        if (ids.length === 0) return done({ items: [], nextCursor: null });
        const [texts] = await store.read([['HMGET', keys.scheduledDrafts, ...ids]]);
        const items = ids.flatMap((id, index) => {
          const text = texts[index];
          if (text == null) return [];
          const draft = JSON.parse(text) as ScheduledDraft;
          return [scheduledView(shop.shopId, { id, draft, end: undefined })];
        });
        return done({ items, nextCursor });
      }),
  };
}
