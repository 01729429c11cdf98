import type { Write } from '../../../runtime/store.ts';
import type { MessageEventType, ShopEventData, ShopEventType } from '../../reply-schemas/event-schemas.ts';
import { tenantKeys } from '../tenant-keys.ts';

/** The types of a tenant's events (docs/contract.md, Events). */
export const EVENT_TYPES = [
  'message.sent',
  'message.failed',
  'message.rejected',
  'message.delivered',
  'message.read',
  'message.received',
  'channel.connected',
  'channel.disconnected',
  'channel.session_lost',
  'recipient.opted_out',
  'recipient.opted_in',
  'queue.paused',
  'queue.resumed',
  'number.restricted',
  'number.unrestricted',
  'number.warned',
  'scheduled.accepted',
  'scheduled.refused',
  'batch.started',
  'batch.finished',
  'batch.stopped',
] as const satisfies readonly (MessageEventType | InboundEventType | ShopEventType)[];
export type EventType = (typeof EVENT_TYPES)[number];

/** The type of event about an inbound message. */
export type InboundEventType = 'message.received';

/** An event of a shop, as the deciding turn stores it. */
export interface TenantEvent {
  readonly type: EventType;
  readonly shopId: string;
  /** For a sent or inbound message its id, since its record has the data; for any other event its data as JSON. */
  readonly subject: string;
}

/** Returns an event about a shop, with its data as JSON. */
export function shopEvent<Type extends ShopEventType>(
  type: Type,
  shopId: string,
  data: ShopEventData<Type>,
): TenantEvent {
  return { type, shopId, subject: JSON.stringify(data) };
}

/** True if events of the type are about a message that a shop sends. */
export function isOfMessage(type: EventType): type is MessageEventType {
  return type.startsWith('message.') && !isOfInbound(type);
}

/** True if events of the type are about an inbound message. */
export function isOfInbound(type: EventType): type is InboundEventType {
  return type === 'message.received';
}

/** An event with its position in the tenant's stream. */
export interface StoredEvent extends TenantEvent {
  /** The id that Redis gave it, `ms-seq`. */
  readonly streamId: string;
}

/** The retention of a tenant's events, by age and number. */
export interface EventLimits {
  /** The minimum age at which events are removed, unless there are more than a tenant may have. Milliseconds. */
  readonly maxAgeMs: number;
  /** Events of one tenant; one takes 80 to 140 bytes of Redis' memory (docs/contract.md, Events). */
  readonly maxEntries: number;
}

/**
 * Adds events to their tenant's stream, within the commit of the turn that decides them. Redis assigns each id as the
 * commit is applied, so no event ever precedes one that a reader has seen. Removes events that are too old or too many,
 * one whole node of the stream at a time. The newest event that is too old stays. It is the proof for a reader that has
 * read up to it: that reader missed nothing.
 */
export function eventWrites(
  tenantId: string,
  events: readonly TenantEvent[],
  { nowMs, limits: { maxAgeMs, maxEntries } }: { readonly nowMs: number; readonly limits: EventLimits },
): Write[] {
  if (events.length === 0) return [];
  const key = tenantKeys(tenantId).events;
  const added = events.map(
    ({ type, shopId, subject }): Write => [
      ...(['XADD', key, 'MAXLEN', '~', maxEntries, '*'] as const),
      ...(['t', type, 's', shopId, 'd', subject] as const),
    ],
  );
  return [...added, ['XTRIMOLD', key, `${Math.max(1, nowMs - maxAgeMs)}-0`]];
}

/** One entry in the reply of `XRANGE`. */
export type StreamEntry = readonly [id: string, fields: readonly string[]];

/** Reads an event back from its entry in the stream. */
export function decodeEvent([streamId, fields]: StreamEntry): StoredEvent {
  const [, type, , shopId = '', , subject = ''] = fields;
  return { streamId, type: type as EventType, shopId, subject };
}
