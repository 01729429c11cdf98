import { logBackgroundFailure } from '../../runtime/background-failures.ts';
import type { Logger } from '../../runtime/logger.ts';
import { partsOf } from '../../runtime/parts.ts';
import { RuntimeFailure } from '../../runtime/runtime-failure.ts';
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
} from '../tenants/stored-events/tenant-event.ts';
import { tenantKeys } from '../tenants/tenant-keys.ts';
import type { EventOperations, EventOutcome, EventPage, EventQuery, EventView } from './event-operations.ts';

/** Events that are read at a time with a filter, and the most that one page reads. */
const READ_AT_A_TIME = 100;
const MOST_SCANNED = 1_000;

/** Bytes of events on one page at most, unless its first event alone has more. */
const PAGE_BYTES = 64 * 1024;
/** Events whose messages are read in one step, so that few are read that do not fit on the page. */
const VIEWED_AT_ONCE = 20;

/** Callers see an event only once no failover may take it back. */
type EventStore = Pick<Store, 'read' | 'readConfirmed'>;

/** The stores of events and of their messages. */
interface Sources {
  readonly store: EventStore;
  readonly messages: Pick<ShopOperations, 'message'>;
  readonly inbound: Pick<InboundOperations, 'eventOf'>;
  readonly log: Logger;
}

export interface EventServiceOptions extends Sources {
  readonly waiters: EventWaiters;
}

/** A page, and the position after all events that were read for it. */
interface ScanResult {
  readonly events: readonly StoredEvent[];
  readonly place: string;
  /** False if the page is full or reached its limit of events: there may be more at once. */
  readonly isAtEnd: boolean;
}

/**
 * Reads the tenants' events in pages from a cursor, and lets calls wait for the next event. An event ends all waits of
 * its tenant. A read that several of them need is done once.
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
        const page = await look(tenantId, { ...query, wait }, options);
        if (page.ok) waitsOn = page.value.wait;
        return page;
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
  // A call without a cursor gets one even if too many calls wait.
  if (cursor === undefined && wait === undefined) return done({ items: [], nextCursor: cursorOf(place) });
  // A reader of the newest event needs no read.
  const scanResult = start.value.isNewest
    ? { events: [], place, isAtEnd: true }
    : await scan(key, place, query, sources.store);
  if (waitMs > 0 && wait === undefined && scanResult.place === place) return refusedWith(NO_ROOM_TO_WAIT);
  return await pageOf(tenantId, { scanned: scanResult, wait }, sources);
}

/** Reads after the last position of the call, for the event that ended its wait. */
async function nextLook(
  tenantId: string,
  { wait, ...query }: EventQuery,
  options: Sources,
): Promise<EventOutcome<EventPage>> {
  const place = wait?.place ?? START_OF_STREAM;
  const sharedAnswers = wait?.takeShared();
  if (sharedAnswers === undefined) return done({ items: [], nextCursor: cursorOf(place) });
  const sources = sharedBy(sharedAnswers, options);
  const scanResult = await scan(tenantKeys(tenantId).events, place, query, sources.store);
  return await pageOf(tenantId, { scanned: scanResult, wait }, sources);
}

/** Returns the page of events found. If it is empty, the call may wait for more. */
async function pageOf(
  tenantId: string,
  { scanned, wait }: { readonly scanned: ScanResult; readonly wait: EventWait | undefined },
  sources: Sources,
): Promise<EventOutcome<EventPage>> {
  const { events, place, isAtEnd } = scanned;
  const nextCursor = cursorOf(place);
  if (wait !== undefined && isAtEnd && events.length === 0) {
    wait.place = place;
    return done({ items: [], nextCursor, wait });
  }
  const { items, firstLeft } = await itemsThatFit(events, tenantId, sources);
  // The position before the events that did not fit.
  return done({
    items,
    nextCursor: firstLeft === undefined ? nextCursor : cursorOf(placeBefore(firstLeft.streamId)),
  });
}

/** Returns the first events that fit into one page, and in `firstLeft` the first that did not. */
async function itemsThatFit(
  foundEvents: readonly StoredEvent[],
  tenantId: string,
  sources: Sources,
): Promise<{ readonly items: readonly EventView[]; readonly firstLeft: StoredEvent | undefined }> {
  const items: EventView[] = [];
  let bytes = 0;
  for (const part of partsOf(foundEvents, VIEWED_AT_ONCE)) {
    const views = await Promise.all(part.map((event) => readableView(event, tenantId, sources)));
    for (const [index, view] of views.entries()) {
      if (view === undefined) continue;
      bytes += Buffer.byteLength(JSON.stringify(view));
      if (bytes > PAGE_BYTES && items.length > 0) return { items, firstLeft: part[index] };
      items.push(view);
    }
  }
  return { items, firstLeft: undefined };
}

/** Like `eventView`. An event with unreadable data is logged and left out, so that readers get the ones after it. */
async function readableView(
  event: StoredEvent,
  tenantId: string,
  sources: Sources,
): Promise<EventView | undefined> {
  try {
    return await eventView(event, tenantId, sources);
  } catch (error) {
    if (error instanceof RuntimeFailure) throw error;
    const fields = { tenantId, place: event.streamId };
    logBackgroundFailure(sources.log, error, fields, 'an event cannot be read');
    return undefined;
  }
}

/** Returns the sources for calls that the same event woke: each answer is read once for all of them. */
function sharedBy(sharedAnswers: SharedAnswers, { store, messages, inbound, log }: Sources): Sources {
  return {
    log,
    store: {
      read: (reads) => store.read(reads),
      readConfirmed: (reads) => sharedAnswers.once(JSON.stringify(reads), () => store.readConfirmed(reads)),
    },
    messages: {
      message: (tenantId, id) => sharedAnswers.once(id, async () => await messages.message(tenantId, id)),
    },
    inbound: { eventOf: (tenantId, id) => sharedAnswers.once(id, () => inbound.eventOf(tenantId, id)) },
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
  store: EventStore,
): Promise<Outcome<Start, 'VALIDATION_ERROR'>> {
  if (cursor === undefined) {
    // One read: a stream that begins after it is read from its start.
    const [[newestEntry], exists] = await store.readConfirmed([
      ['XREVRANGE', key, '+', '-', 'COUNT', 1],
      ['EXISTS', key],
    ]);
    return done({ place: newestEntry?.[0] ?? (await lastIssued(key, exists, store)), isNewest: true });
  }
  const place = streamIdOf(cursor);
  const [[oldestEntry], [newestEntry]] = await store.readConfirmed([
    ['XRANGE', key, '-', '+', 'COUNT', 1],
    ['XREVRANGE', key, '+', '-', 'COUNT', 1],
  ]);
  const lastPlace = newestEntry?.[0] ?? START_OF_STREAM;
  if (lastPlace === place) return done({ place, isNewest: true });
  if (isBefore(lastPlace, place)) return await beyondNewest(key, place, store);
  if (oldestEntry === undefined || !(await wereCutOff(store, { key, place, oldest: oldestEntry[0] })))
    return done({ place, isNewest: false });
  const goOn = placeBefore(oldestEntry[0]);
  return refuseCursor(`is older than the oldest event that is kept, ${cursorOf(oldestEntry[0])}`, goOn);
}

/**
 * Returns the position after the newest entry. Fails if the stream never issued this position. It is then another
 * tenant's, is no event's id, or Redis lost the events up to it. No later event would follow such a position while its
 * time is in the future.
 */
async function beyondNewest(
  key: string,
  place: string,
  store: EventStore,
): Promise<Outcome<Start, 'VALIDATION_ERROR'>> {
  const [exists] = await store.read([['EXISTS', key]]);
  const lastPlace = await lastIssued(key, exists, store);
  if (!isBefore(lastPlace, place)) return done({ place, isNewest: false });
  return refuseCursor('is not a cursor of these events: it is newer than the newest event', lastPlace);
}

/** Returns the last position that the stream issued. An entry that was erased or cut off keeps its position. */
async function lastIssued(key: string, exists: number, store: EventStore): Promise<string> {
  return exists === 0
    ? START_OF_STREAM
    : String((await streamFacts((reads) => store.readConfirmed(reads), key))('last-generated-id'));
}

function refuseCursor(reason: string, goOn: string): Failed<'VALIDATION_ERROR'> {
  const nextCursor = cursorOf(goOn);
  const message = `${reason}; go on from ${nextCursor}`;
  return failed('VALIDATION_ERROR', { fields: [{ field: 'cursor', message }], nextCursor });
}

/** Reads events after a position until the page is full, the stream ends, or `MOST_SCANNED` were read. */
async function scan(
  key: string,
  fromPlace: string,
  { types, shopId, hidesInbound, limit }: EventQuery,
  store: EventStore,
): Promise<ScanResult> {
  const isFiltered = types !== undefined || shopId !== undefined || hidesInbound;
  const count = isFiltered ? READ_AT_A_TIME : limit;
  const foundEvents: StoredEvent[] = [];
  let place = fromPlace;
  for (let scannedCount = 0; scannedCount < MOST_SCANNED; scannedCount += count) {
    const [entries] = await store.readConfirmed([['XRANGE', key, `(${place}`, '+', 'COUNT', count]]);
    for (const event of entries.map(decodeEvent)) {
      place = event.streamId;
      if (hidesInbound && isOfInbound(event.type)) continue;
      if (types?.has(event.type) === false || (shopId !== undefined && event.shopId !== shopId)) continue;
      foundEvents.push(event);
      if (foundEvents.length === limit) return { events: foundEvents, place, isAtEnd: false };
    }
    if (entries.length < count) return { events: foundEvents, place, isAtEnd: true };
  }
  return { events: foundEvents, place, isAtEnd: false };
}

/** Returns the event as the API shows it, or undefined if its sent or inbound message was removed. */
export async function eventView(
  { streamId, type, shopId, subject }: StoredEvent,
  tenantId: string,
  { messages, inbound }: Pick<Sources, 'messages' | 'inbound'>,
): Promise<EventView | undefined> {
  const timestamp = new Date(storedAtMs(streamId)).toISOString();
  const commonFields = { id: cursorOf(streamId), timestamp };
  if (isOfInbound(type)) {
    const writtenEvent = await inbound.eventOf(tenantId, subject);
    return writtenEvent && { ...commonFields, type, data: writtenEvent };
  }
  if (!isOfMessage(type)) {
    // `shopEvent` wrote the subject.
    return { ...commonFields, type, data: { shopId, ...JSON.parse(subject) } };
  }
  const message = await messages.message(tenantId, subject);
  return message.ok ? { ...commonFields, type, data: { ...message.value } } : undefined;
}
