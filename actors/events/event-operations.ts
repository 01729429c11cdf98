import type { Outcome } from '../failure.ts';
import type { InboundView } from '../shops/inbound-operations.ts';
import type { MessageView } from '../shops/shop-operations.ts';
import type { EventWait } from '../tenants/event-waiters.ts';
import type {
  EventType,
  InboundEventType,
  MessageEventType,
  ShopEventData,
  ShopEventType,
} from '../tenants/tenant-event.ts';
import type { CursorPage } from '../tenants/tenant-operations.ts';

/** An event of one type as the API shows it. */
interface Shown<Type extends EventType, Data> {
  /** Its place: 24 hexadecimal digits, the cursor that goes on behind it. */
  readonly id: string;
  readonly type: Type;
  /** ISO 8601. */
  readonly timestamp: string;
  readonly data: Data;
}

/** An event as the API shows it: of a message its record, of what somebody wrote that message, of all others `shopId` and what there is to say. */
export type EventView =
  | Shown<MessageEventType, MessageView>
  | Shown<InboundEventType, InboundView>
  | {
      [Type in ShopEventType]: Shown<Type, ShopEventData[Type] & { readonly shopId: string }>;
    }[ShopEventType];

/** Which events to read. */
export interface EventQuery {
  /** The place to go on behind; undefined: from now on. */
  readonly cursor: string | undefined;
  readonly limit: number;
  /** Only these; undefined: all. */
  readonly types: ReadonlySet<string> | undefined;
  /** Whether what people wrote is left out; absent: it is not. */
  readonly withoutInbound?: boolean;
  /** Only this shop's; undefined: every shop's. */
  readonly shopId: string | undefined;
  /** How long the call would wait for the first that fits, when none is there yet; milliseconds. */
  readonly waitMs: number;
  /** The key of the call, with which its wait ends; absent: none does. */
  readonly keyId?: string;
  /** The wait that the call was in, which tells where it goes on and what woke it; absent: it asks for the first time. */
  readonly wait?: EventWait | undefined;
}

/** Events, oldest first, and the place to go on from. */
export interface EventPage extends CursorPage<EventView> {
  readonly nextCursor: string;
  /** Where none fits yet and the call would wait: ask again with it once it woke, or leave it. */
  readonly wait?: EventWait | undefined;
}

/** What a tenant asks of its events, on the node that owns its shard. Rejects only with `RuntimeFailure`. */
export interface EventOperations {
  /**
   * Oldest first, and never waits itself. `nextCursor` is always a place to go on from. A cursor older than the oldest kept event fails
   * VALIDATION_ERROR, which names the oldest, and one behind the newest that ever was fails as well; both with the
   * `nextCursor` to go on from. One that would wait where too many do fails OVERLOADED.
   */
  list(tenantId: string, query: EventQuery): Promise<Outcome<EventPage>>;
}
