import { partsOf } from '../../runtime/parts.ts';
import type { Store } from '../../runtime/store.ts';
import { done, type Failed, failed, type Outcome, refusedWith } from '../failure.ts';
import type { InboundOperations } from '../shops/inbound-operations.ts';
import type { ShopOperations } from '../shops/shop-operations.ts';
import {
  cursorOf,
  isBefore,
  placeBefore,
  START_OF_STREAM,
  storedAtMs,
  streamIdOf,
} from '../tenants/stored-events/event-cursor.ts';
import { streamFacts, wereCutOff } from '../tenants/stored-events/event-retention.ts';
import {
  type EventWait,
  type EventWaiters,
  NO_ROOM_TO_WAIT,
  type SharedAnswers,
} from '../tenants/stored-events/event-waiters.ts';
import {
  decodeEvent,
  isOfInbound,
  isOfMessage,
  type StoredEvent,
  type StreamEntry,
} from '../tenants/stored-events/tenant-event.ts';
import { tenantKeys } from '../tenants/tenant-keys.ts';
import type { EventOperations, EventOutcome, EventPage, EventQuery, EventView } from './event-operations.ts';

/** Events that are read at a time with a filter, and the most that one page reads. */
const BATCH = 100;
const MOST_SCANNED = 1_000;

/** Bytes of events on one page at most, unless its first event alone has more. */
const PAGE_BYTES = 64 * 1024;
/** Events whose messages are read in one step, so that few are read that do not fit on the page. */
const VIEWED_AT_ONCE = 20;

/** The stores of events and of their messages. */
interface Sources {
  readonly store: Pick<Store, 'read'>;
  readonly messages: Pick<ShopOperations, 'message'>;
  readonly inbound: Pick<InboundOperations, 'eventOf'>;
}

/** The sources and the waits of the events' operations. */
export interface EventServiceOptions extends Sources {
  readonly waiters: EventWaiters;
}

/** A page, and the position after all events that were read for it. */
interface Scanned {
  readonly found: readonly StoredEvent[];
  readonly place: string;
  /** False if the page is full or reached its limit of events: there may be more at once. */
  readonly isAtEnd: boolean;
}

/**
 * Reads the tenants' events in pages from a cursor, and lets calls wait for the next event. An event ends all waits of
 * its tenant. They all send the same query, so its result is read once.
 */
export function eventService(options: EventServiceOptions): EventOperations {
  const { waiters } = options;

  return {
    async list(tenantId, query) {
      const { waitMs, keyId } = query;
      // The wait begins before the first read, so that no event comes between a read and its wait.
      const wait = query.wait ?? (waitMs > 0 ? waiters.enter(tenantId, waitMs, keyId) : undefined);
      let waitsOn: EventWait | undefined;
      try {
        const look = query.wait === undefined ? firstLook : nextLook;
        const listed = await look(tenantId, { ...query, wait }, options);
        if (listed.ok) waitsOn = listed.value.wait;
        return listed;
      } finally {
        if (waitsOn === undefined) wait?.leave();
      }
    },
  };
}

/** Reads from the position that the call names. */
async function firstLook(
  tenantId: string,
  query: EventQuery,
  sources: Sources,
): Promise<EventOutcome<EventPage>> {
  const { cursor, waitMs, wait } = query;
  const key = tenantKeys(tenantId).events;
  const start = await startOf(key, cursor, sources.store);
  if (!start.ok) return start;
  const { place } = start.value;
  // Even if too many calls wait, a call without a cursor gets one.
  if (cursor === undefined && wait === undefined) return done({ items: [], nextCursor: cursorOf(place) });
  // A reader of the newest event needs no read.
  const scanned = start.value.isNewest
    ? { found: [], place, isAtEnd: true }
    : await scan(key, place, query, sources.store);
  if (waitMs > 0 && wait === undefined && scanned.place === place) return refusedWith(NO_ROOM_TO_WAIT);
  return await pageOf(tenantId, { scanned, wait }, sources);
}

/** Reads after the last position of the call, for the event that ended its wait. */
async function nextLook(
  tenantId: string,
  { wait, ...query }: EventQuery,
  options: Sources,
): Promise<EventOutcome<EventPage>> {
  const place = wait?.place ?? START_OF_STREAM;
  const shared = wait?.takeShared();
  if (shared === undefined) return done({ items: [], nextCursor: cursorOf(place) });
  const sources = sharedBy(shared, options);
  const scanned = await scan(tenantKeys(tenantId).events, place, query, sources.store);
  return await pageOf(tenantId, { scanned, wait }, sources);
}

/** Returns the page of events found. If it is empty, the call may wait for more. */
async function pageOf(
  tenantId: string,
  { scanned, wait }: { readonly scanned: Scanned; readonly wait: EventWait | undefined },
  sources: Sources,
): Promise<EventOutcome<EventPage>> {
  const { found, place, isAtEnd } = scanned;
  const nextCursor = cursorOf(place);
  if (wait !== undefined && isAtEnd && found.length === 0) {
    wait.place = place;
    return done({ items: [], nextCursor, wait });
  }
  const { items, left } = await itemsThatFit(found, tenantId, sources);
  // The position before the events that did not fit.
  return done({ items, nextCursor: left === undefined ? nextCursor : cursorOf(placeBefore(left.streamId)) });
}

/** The first events that fit into one page; `left`: the first that did not. */
async function itemsThatFit(
  found: readonly StoredEvent[],
  tenantId: string,
  sources: Sources,
): Promise<{ readonly items: readonly EventView[]; readonly left: StoredEvent | undefined }> {
  const items: EventView[] = [];
  let bytes = 0;
  for (const some of partsOf(found, VIEWED_AT_ONCE)) {
    const views = await Promise.all(some.map((event) => eventView(event, tenantId, sources)));
    for (const [index, view] of views.entries()) {
      if (view === undefined) continue;
      bytes += Buffer.byteLength(JSON.stringify(view));
      if (bytes > PAGE_BYTES && items.length > 0) return { items, left: some[index] };
      items.push(view);
    }
  }
  return { items, left: undefined };
}

/** The sources of calls that the same event woke. */
function sharedBy(shared: SharedAnswers, { store, messages, inbound }: Sources): Sources {
  return {
    store: { read: (reads) => shared.once(JSON.stringify(reads), () => store.read(reads)) },
    messages: {
      message: (tenantId, id) => shared.once(id, async () => await messages.message(tenantId, id)),
    },
    inbound: { eventOf: (tenantId, id) => shared.once(id, () => inbound.eventOf(tenantId, id)) },
  };
}

/** The position to read from. `isNewest` means that there is nothing after it now. */
interface Start {
  readonly place: string;
  readonly isNewest: boolean;
}

/**
 * Returns the position to read from. Fails if events after the cursor were removed, or if the stream never issued it.
 */
async function startOf(
  key: string,
  cursor: string | undefined,
  store: Pick<Store, 'read'>,
): Promise<Outcome<Start, 'VALIDATION_ERROR'>> {
  if (cursor === undefined) {
    // One read: a stream that begins after it is read from its start.
    const [[newest], exists] = (await store.read([
      ['XREVRANGE', key, '+', '-', 'COUNT', 1],
      ['EXISTS', key],
    ])) as [StreamEntry[], number];
    return done({ place: newest?.[0] ?? (await lastIssued(key, exists, store)), isNewest: true });
  }
  const place = streamIdOf(cursor);
  const [[oldest], [newest]] = (await store.read([
    ['XRANGE', key, '-', '+', 'COUNT', 1],
    ['XREVRANGE', key, '+', '-', 'COUNT', 1],
  ])) as [StreamEntry[], StreamEntry[]];
  const last = newest?.[0] ?? START_OF_STREAM;
  if (last === place) return done({ place, isNewest: true });
  if (isBefore(last, place)) return await beyondNewest(key, place, store);
  if (oldest === undefined || !(await wereCutOff(store, { key, place, oldest: oldest[0] }))) {
    return done({ place, isNewest: false });
  }
  const goOn = placeBefore(oldest[0]);
  return refuseCursor(`is older than the oldest event that is kept, ${cursorOf(oldest[0])}`, goOn);
}

/**
 * Returns the position after the newest entry. Fails if the stream never issued this position. It is then another
 * tenant's, is no event's id, or Redis lost the events up to it. No later event would follow such a position while its
 * time is in the future.
 */
async function beyondNewest(
  key: string,
  place: string,
  store: Pick<Store, 'read'>,
): Promise<Outcome<Start, 'VALIDATION_ERROR'>> {
  const [exists] = (await store.read([['EXISTS', key]])) as [number];
  const last = await lastIssued(key, exists, store);
  if (!isBefore(last, place)) return done({ place, isNewest: false });
  return refuseCursor('is not a cursor of these events: it is newer than the newest event', last);
}

/** Returns the last position that the stream issued. An entry that was erased or cut off keeps its position. */
async function lastIssued(key: string, exists: number, store: Pick<Store, 'read'>): Promise<string> {
  return exists === 0 ? START_OF_STREAM : String((await streamFacts(store, key))('last-generated-id'));
}

function refuseCursor(why: string, goOn: string): Failed<'VALIDATION_ERROR'> {
  const nextCursor = cursorOf(goOn);
  const message = `${why}; go on from ${nextCursor}`;
  return failed('VALIDATION_ERROR', { fields: [{ field: 'cursor', message }], nextCursor });
}

async function scan(
  key: string,
  from: string,
  { types, shopId, withoutInbound, limit }: EventQuery,
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
      if (withoutInbound && isOfInbound(event.type)) continue;
      if (types?.has(event.type) === false || (shopId !== undefined && event.shopId !== shopId)) continue;
      found.push(event);
      if (found.length === limit) return { found, place, isAtEnd: false };
    }
    if (entries.length < batch) return { found, place, isAtEnd: true };
  }
  return { found, place, isAtEnd: false };
}

/** Returns the event as the API shows it, or undefined if its sent or inbound message was removed. */
export async function eventView(
  { streamId, type, shopId, subject }: StoredEvent,
  tenantId: string,
  { messages, inbound }: Pick<Sources, 'messages' | 'inbound'>,
): Promise<EventView | undefined> {
  const timestamp = new Date(storedAtMs(streamId)).toISOString();
  const shown = { id: cursorOf(streamId), timestamp };
  if (isOfInbound(type)) {
    const written = await inbound.eventOf(tenantId, subject);
    return written && { ...shown, type, data: written };
  }
  if (!isOfMessage(type)) {
    // `shopEvent` wrote the subject.
    return { ...shown, type, data: { shopId, ...JSON.parse(subject) } };
  }
  const message = await messages.message(tenantId, subject);
  return message.ok ? { ...shown, type, data: { ...message.value } } : undefined;
}
