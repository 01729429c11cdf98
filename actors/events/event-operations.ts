import type { Outcome } from '../failure.ts';
import type { event } from '../reply-schemas/event-schemas.ts';
import type { CursorPage, ReplyOf } from '../reply-schemas/reply-fields.ts';
import type { EventWait } from '../tenants/stored-events/event-waiters.ts';

/**
 * An event as the API shows it. The data is the record of a sent or inbound message; for other events it is `shopId`
 * and their own fields.
 */
export type EventView = ReplyOf<typeof event>;

export interface EventQuery {
  /** The position after which to continue. If undefined, from now on. */
  readonly cursor: string | undefined;
  readonly limit: number;
  /** Only these types. If undefined, all. */
  readonly types: ReadonlySet<string> | undefined;
  /** True leaves out inbound messages. By default false. */
  readonly hidesInbound?: boolean;
  /** Only this shop's events. If undefined, every shop's. */
  readonly shopId: string | undefined;
  /** How long the caller may wait for the first matching event if there is none yet; milliseconds. 0: no wait. */
  readonly waitMs: number;
  /** The key of the call, with which its wait ends. If absent, no key ends it. */
  readonly keyId?: string;
  /** The wait that the call was in: its position and the events that ended it. Absent on the first call. */
  readonly wait?: EventWait | undefined;
}

/** Events, oldest first, and the position from which to continue. */
export interface EventPage extends CursorPage<EventView> {
  readonly nextCursor: string;
  /**
   * Set if no event matches yet and the caller may wait. Call `list` again with it once it ends, or
   * `wait.leave()`. Until then it takes one of the tenant's places.
   */
  readonly wait?: EventWait | undefined;
}

export type EventOutcome<Value> = Outcome<Value, 'VALIDATION_ERROR' | 'OVERLOADED'>;

/** Reads a tenant's events, on the node that owns its shard. Rejects only with `RuntimeFailure`. */
export interface EventOperations {
  /**
   * Returns the oldest events first. It does not wait itself, but may return a `wait` for its caller. `nextCursor` is
   * always a cursor to continue from.
   *
   * Fails with VALIDATION_ERROR if events after the cursor were removed, and names the oldest kept event. It also fails
   * so if the cursor is newer than the newest event. Both carry the `nextCursor` to continue from. Fails with
   * OVERLOADED if a call with a cursor would wait and too many wait already.
   */
  list(tenantId: string, query: EventQuery): Promise<EventOutcome<EventPage>>;
}
