import type { Clock } from '../runtime/clock.ts';
import type { ChannelStatus } from './channel-status.ts';
import type { MessageReason, MessageStatus } from './message-status.ts';

/** The shop that an event is about; `shop` is its name. */
interface OfShop {
  readonly tenantId: string;
  readonly shopId: string;
  readonly shop: string;
}

/** The data of each type of event. Never contains a text, a key or a QR code. */
export interface ActorEventData {
  readonly message: OfShop & {
    readonly messageId: string;
    readonly status: MessageStatus;
    readonly reason: MessageReason | null;
    /**
     * Milliseconds since the message was accepted; null if a pool shop carries it, since its own shop publishes the
     * age.
     */
    readonly ageMs: number | null;
  };
  readonly channel: OfShop & {
    readonly status: ChannelStatus;
    /** The state of the channel machine. */
    readonly state: string;
  };
  readonly pacing: OfShop & {
    readonly state: string;
    readonly heldByOperator: boolean;
    /** The cause that paused the queue in this turn, or null if none did. */
    readonly began: 'operator' | 'rate_signal' | null;
  };
  /** A number was connected that other tenants had within 30 days; known by a digest. */
  readonly number: OfShop & {
    readonly state: 'shared';
    readonly number: string;
    readonly otherTenants: readonly string[];
  };
  /** The service itself disabled a webhook: it gets no events until it is enabled again. */
  readonly webhook: {
    readonly tenantId: string;
    readonly webhookId: string;
    readonly state: 'disabled';
    readonly disabledBy: 'gone' | 'failing' | 'unreadable';
  };
  /** The tenant's record changed. */
  readonly tenant: { readonly tenantId: string };
  /** The tenant has a shop more or less, or one by another name. */
  readonly shop: { readonly tenantId: string; readonly shopId: string };
}

/** An event for operators; `at` is ISO 8601. */
export type ActorEvent = {
  [Type in keyof ActorEventData]: {
    readonly type: Type;
    readonly at: string;
    readonly data: ActorEventData[Type];
  };
}[keyof ActorEventData];

/** Notifies listeners on this node of events of its actors. */
export class ActorEventFeed {
  readonly #clock: Clock;
  /** A list, because iterating a set takes an object for each event. */
  #listeners: readonly ((event: ActorEvent) => void)[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  publish<Type extends keyof ActorEventData>(type: Type, data: ActorEventData[Type]): void {
    if (this.#listeners.length === 0) return;
    const at = new Date(this.#clock.wallMs()).toISOString();
    const event = { type, at, data } as ActorEvent;
    for (const listener of this.#listeners) listener(event);
  }

  /** Calls `listener` for each event from now on; the returned function ends it. */
  subscribe(listener: (event: ActorEvent) => void): () => void {
    this.#listeners = [...this.#listeners, listener];
    return () => {
      this.#listeners = this.#listeners.filter((otherListener) => otherListener !== listener);
    };
  }
}
