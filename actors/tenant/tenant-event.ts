import type { Write } from '../../runtime/store.ts';
import { tenantKeys } from './tenant-keys.ts';

/** What a tenant is told of (docs/contract.md, Events). */
export const EVENT_TYPES = [
  'message.sent',
  'message.failed',
  'message.rejected',
  'channel.connected',
  'channel.disconnected',
  'channel.session_lost',
  'recipient.opted_out',
  'recipient.opted_in',
  'queue.paused',
  'queue.resumed',
] as const;
/** One of them. */
export type EventType = (typeof EVENT_TYPES)[number];

/** Something that happened to a shop, as the turn that decided it tells of it. */
export interface TenantEvent {
  readonly type: EventType;
  readonly shopId: string;
  /** Of a message its id, since its record holds the rest; else what else there is to say, as JSON. */
  readonly subject: string;
}

/** An event with its place in the tenant's stream. */
export interface StoredEvent extends TenantEvent {
  /** The id that Redis gave it, `ms-seq`. */
  readonly streamId: string;
}

/** Events are kept at least so long, unless there are more of them than a tenant may have. */
const EVENT_RETENTION_MS = 7 * 24 * 3_600_000;
/** Events of one tenant that are kept at least; one takes about 60 bytes of Redis' memory, a few hundred at most. */
const EVENTS_A_TENANT = 50_000;

/**
 * Adds events to their tenant's stream, within the commit of the turn that makes them true. Redis gives each its id as
 * the commit is applied, so no event ever comes before one that a reader has seen. Cuts off what is too old or too much
 * as soon as a whole node of the stream is.
 */
export function eventWrites(tenantId: string, events: readonly TenantEvent[], nowMs: number): Write[] {
  if (events.length === 0) return [];
  const key = tenantKeys(tenantId).events;
  const added = events.map(
    ({ type, shopId, subject }): Write => [
      ...(['XADD', key, 'MAXLEN', '~', EVENTS_A_TENANT, '*'] as const),
      ...(['t', type, 's', shopId, 'd', subject] as const),
    ],
  );
  return [...added, ['XTRIM', key, 'MINID', '~', Math.max(0, nowMs - EVENT_RETENTION_MS)]];
}

/** What `XRANGE` answers of one entry. */
export type StreamEntry = readonly [id: string, fields: readonly string[]];

/** Reads an event back. */
export function decodeEvent([streamId, fields]: StreamEntry): StoredEvent {
  const [, type, , shopId = '', , subject = ''] = fields;
  return { streamId, type: type as EventType, shopId, subject };
}
