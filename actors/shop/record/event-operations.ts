import type { Outcome } from '../../failure.ts';
import type { EventType } from '../../tenant/tenant-event.ts';
import type { CursorPage } from '../../tenant/tenant-operations.ts';
import type { WaitingCaller } from '../../waiting-caller.ts';

/** An event as the API shows it. */
export interface EventView {
  /** Its place: 24 hexadecimal digits, the cursor that goes on behind it. */
  readonly id: string;
  readonly type: EventType;
  /** ISO 8601. */
  readonly timestamp: string;
  /** Of a message its record; of all others `shopId` and what there is to say. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** Which events to read. */
export interface EventQuery {
  /** The place to go on behind; undefined: from now on. */
  readonly cursor: string | undefined;
  readonly limit: number;
  /** Only these; undefined: all. */
  readonly types: ReadonlySet<string> | undefined;
  /** Only this shop's; undefined: every shop's. */
  readonly shopId: string | undefined;
  /** How long to wait for the first that fits, when none is there yet; milliseconds. */
  readonly waitMs: number;
  /** Of the caller, whose wait ends when it goes away; absent: the wait ends by itself. */
  readonly connection?: WaitingCaller | undefined;
}

/** What a tenant asks of its events, on the node that owns its shard. Rejects only with `RuntimeFailure`. */
export interface EventOperations {
  /**
   * Oldest first. `nextCursor` is always a place to go on from. A cursor older than the oldest kept event fails
   * VALIDATION_ERROR, which names the oldest, and one behind the newest that ever was fails as well; both with the
   * `nextCursor` to go on from. One that would wait where too many do fails OVERLOADED.
   */
  list(
    tenantId: string,
    query: EventQuery,
  ): Promise<Outcome<CursorPage<EventView> & { readonly nextCursor: string }>>;
}
