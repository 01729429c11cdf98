import type { Store } from '../../runtime/store.ts';
import { isBefore, placeBefore, storedAtMs } from '../tenants/stored-events/event-cursor.ts';
import { wereCutOff } from '../tenants/stored-events/event-retention.ts';
import { decodeEvent, type StoredEvent } from '../tenants/stored-events/tenant-event.ts';
import type { WebhookRecord } from '../tenants/stored-webhooks/webhook-record.ts';
import type { KeptEvent, ReadEvents } from './endpoint-pump-options.ts';
import { isWanted } from './next-attempts.ts';

/** Events that are read at a time to find those for an endpoint. */
const READ_AT_A_TIME = 100;

/** An endpoint gets an event only once no failover may take it back. */
export type EventStore = Pick<Store, 'read' | 'readConfirmed'>;

/** Reads once, and returns the events of the endpoint's types and shops, and the position reached. */
export async function readAfter(
  store: EventStore,
  request: {
    readonly key: string;
    readonly place: string;
    readonly limit: number;
    readonly webhook: WebhookRecord;
  },
): Promise<ReadEvents> {
  const { key, place, limit, webhook } = request;
  // The oldest is read last, so that a removal in between is noticed.
  const [entries, [oldestEntry]] = await store.readConfirmed([
    ['XRANGE', key, `(${place}`, '+', 'COUNT', READ_AT_A_TIME],
    ['XRANGE', key, '-', '+', 'COUNT', 1],
  ]);
  const missedUntilMs = await cutOffMs(store, { key, place, oldest: oldestEntry?.[0] });
  const events: StoredEvent[] = [];
  let lastPlace = place;
  for (const event of entries.map(decodeEvent)) {
    if (isBefore(event.streamId, lastPlace)) continue;
    lastPlace = event.streamId;
    if (isWanted(webhook, event)) events.push(event);
    if (events.length === limit) break;
  }
  return { events, place: lastPlace, missedUntilMs };
}

/** Reads the event at a position of a tenant's stream. */
export async function readAt(
  store: EventStore,
  { key, place }: { readonly key: string; readonly place: string },
): Promise<KeptEvent> {
  const [[entry], [oldestEntry]] = await store.readConfirmed([
    ['XRANGE', key, place, place],
    ['XRANGE', key, '-', '+', 'COUNT', 1],
  ]);
  if (entry !== undefined) return { event: decodeEvent(entry) };
  const missedUntilMs = await cutOffMs(store, { key, place: placeBefore(place), oldest: oldestEntry?.[0] });
  return { event: undefined, missedUntilMs };
}

/** Returns the time of the oldest kept event if some after a position were removed, else undefined. */
async function cutOffMs(
  store: Pick<Store, 'read'>,
  request: { readonly key: string; readonly place: string; readonly oldest: string | undefined },
): Promise<number | undefined> {
  const { oldest } = request;
  if (oldest === undefined || !(await wereCutOff(store, request))) return undefined;
  return storedAtMs(oldest);
}
