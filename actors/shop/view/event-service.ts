import type { Clock } from '../../../runtime/clock.ts';
import type { Store } from '../../../runtime/store.ts';
import { done, failed, type Outcome } from '../../failure.ts';
import {
  cursorOf,
  isBefore,
  placeBefore,
  START_OF_STREAM,
  storedAtMs,
  streamIdOf,
} from '../../tenant/event-cursor.ts';
import { streamFacts, wereCutOff } from '../../tenant/event-retention.ts';
import type { EventWaiters } from '../../tenant/event-waiters.ts';
import { decodeEvent, type StoredEvent, type StreamEntry } from '../../tenant/tenant-event.ts';
import { tenantKeys } from '../../tenant/tenant-keys.ts';
import type { EventOperations, EventQuery, EventView } from '../record/event-operations.ts';
import type { ShopOperations } from '../record/shop-operations.ts';

/** Events that are read at a time behind a filter, and how many one page looks through. */
const BATCH = 100;
const MOST_SCANNED = 1_000;

/** The store, the waits and the clock of the events' operations. */
export interface EventServiceOptions {
  readonly store: Pick<Store, 'read'>;
  readonly clock: Clock;
  readonly waiters: EventWaiters;
  readonly messages: Pick<ShopOperations, 'message'>;
}

/** A page, and the place behind all that was looked at for it. */
interface Scanned {
  readonly found: readonly StoredEvent[];
  readonly place: string;
  /** False where the page is full or looked through as much as it may: there may be more at once. */
  readonly isAtEnd: boolean;
}

/** The tenants' events: pages from a cursor on, and waits for what comes next. */
export function eventService(options: EventServiceOptions): EventOperations {
  const { store, clock, waiters } = options;

  const page = async (tenantId: string, { found, place }: Scanned) => {
    const items = await Promise.all(found.map((event) => viewOf(event, tenantId, options)));
    return done({ items: items.filter((item) => item !== undefined), nextCursor: cursorOf(place) });
  };

  return {
    async list(tenantId, query) {
      const key = tenantKeys(tenantId).events;
      // The wait begins before the first read, so that no event comes between a read and its wait.
      const wait = query.waitMs > 0 ? waiters.enter(tenantId) : undefined;
      const stay = wait && query.connection?.onGone(() => wait.end());
      const endMs = clock.monotonicMs() + query.waitMs;
      try {
        const start = await startOf(key, query.cursor, store);
        if (!start.ok) return start;
        if (query.cursor === undefined && wait === undefined) {
          return done({ items: [], nextCursor: cursorOf(start.value) });
        }
        let scanned = await scan(key, start.value, query, store);
        while (wait !== undefined && scanned.isAtEnd && scanned.found.length === 0) {
          const leftMs = endMs - clock.monotonicMs();
          if (leftMs <= 0 || (await wait.next(leftMs)) === 'over') break;
          scanned = await scan(key, scanned.place, query, store);
        }
        return await page(tenantId, scanned);
      } finally {
        stay?.();
        wait?.leave();
      }
    },
  };
}

/** The place to read from. Fails for a cursor behind which events are gone, and for one that was never given. */
async function startOf(
  key: string,
  cursor: string | undefined,
  store: Pick<Store, 'read'>,
): Promise<Outcome<string>> {
  if (cursor === undefined) {
    const [[newest], exists] = (await store.read([
      ['XREVRANGE', key, '+', '-', 'COUNT', 1],
      ['EXISTS', key],
    ])) as [StreamEntry[], number];
    if (newest !== undefined || exists === 0) return done(newest?.[0] ?? START_OF_STREAM);
    return done(String((await streamFacts(store, key))('last-generated-id')));
  }
  const place = streamIdOf(cursor);
  const [[oldest], [newest]] = (await store.read([
    ['XRANGE', key, '-', '+', 'COUNT', 1],
    ['XREVRANGE', key, '+', '-', 'COUNT', 1],
  ])) as [StreamEntry[], StreamEntry[]];
  if (isBefore(newest?.[0] ?? START_OF_STREAM, place)) return await beyondNewest(key, place, store);
  if (oldest === undefined || !(await wereCutOff(store, { key, place, oldest: oldest[0] })))
    return done(place);
  const goOn = placeBefore(oldest[0]);
  return refused(`is older than the oldest event that is kept, ${cursorOf(oldest[0])}`, goOn);
}

/**
 * A place behind the newest entry. Fails for one that the stream never gave: it is another tenant's, an id of something
 * else, or Redis lost the events up to it, and nothing would come behind it for as long as its time is ahead.
 */
async function beyondNewest(
  key: string,
  place: string,
  store: Pick<Store, 'read'>,
): Promise<Outcome<string>> {
  const [exists] = (await store.read([['EXISTS', key]])) as [number];
  // An entry that was erased or cut off keeps its place.
  const last = exists === 0 ? START_OF_STREAM : String((await streamFacts(store, key))('last-generated-id'));
  if (!isBefore(last, place)) return done(place);
  return refused('is no cursor of these events: it is behind the newest of them', last);
}

function refused(why: string, goOn: string): ReturnType<typeof failed> {
  const nextCursor = cursorOf(goOn);
  const message = `${why}; go on from ${nextCursor}`;
  return failed('VALIDATION_ERROR', { fields: [{ field: 'cursor', message }], nextCursor });
}

async function scan(
  key: string,
  from: string,
  { types, shopId, limit }: EventQuery,
  store: Pick<Store, 'read'>,
): Promise<Scanned> {
  const isFiltered = types !== undefined || shopId !== undefined;
  const batch = isFiltered ? BATCH : limit;
  const found: StoredEvent[] = [];
  let place = from;
  for (let scanned = 0; scanned < MOST_SCANNED; scanned += batch) {
    const [entries] = (await store.read([['XRANGE', key, `(${place}`, '+', 'COUNT', batch]])) as [
      StreamEntry[],
    ];
    for (const event of entries.map(decodeEvent)) {
      place = event.streamId;
      if (types?.has(event.type) === false || (shopId !== undefined && event.shopId !== shopId)) continue;
      found.push(event);
      if (found.length === limit) return { found, place, isAtEnd: false };
    }
    if (entries.length < batch) return { found, place, isAtEnd: true };
  }
  return { found, place, isAtEnd: false };
}

/** As the API shows it; undefined for one of a message that is gone. */
export async function viewOf(
  { streamId, type, shopId, subject }: StoredEvent,
  tenantId: string,
  { messages }: Pick<EventServiceOptions, 'messages'>,
): Promise<EventView | undefined> {
  const timestamp = new Date(storedAtMs(streamId)).toISOString();
  const shown = { id: cursorOf(streamId), type, timestamp };
  if (!type.startsWith('message.')) {
    return { ...shown, data: { shopId, ...(JSON.parse(subject) as Record<string, unknown>) } };
  }
  const message = await messages.message(tenantId, subject);
  return message.ok ? { ...shown, data: { ...message.value } } : undefined;
}
