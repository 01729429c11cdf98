import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { Random } from '../../runtime/random.ts';
import type { StoredEvent } from '../tenants/stored-events/tenant-event.ts';
import type {
  WebhookAttempt,
  WebhookProgress,
  WebhookRecord,
} from '../tenants/stored-webhooks/webhook-record.ts';
import type { DeliveryResult } from './deliver.ts';

/** New events, and the position after all events that were read for them. */
export interface ReadEvents extends MissedEvents {
  readonly events: readonly StoredEvent[];
  readonly place: string;
}

/** The event at a position. Undefined if it was erased or removed. */
export interface KeptEvent extends MissedEvents {
  readonly event: StoredEvent | undefined;
}

export interface MissedEvents {
  /** Unread events from before this time were removed. Absent if none were. */
  readonly missedUntilMs?: number | undefined;
}

/** The result of one attempt, and the moment at which it began. */
export interface SentEvent {
  readonly result: DeliveryResult;
  readonly atMs: number;
  readonly durationMs: number;
}

/** The speed of an endpoint's last answer. */
export type EndpointPace = 'unknown' | 'quick' | 'slow';

/** A read or a write may reject with `RuntimeFailure`. */
export interface EndpointPumpOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Reads the endpoint's stored progress, or undefined if there is none yet. */
  progress(webhookId: string): Promise<WebhookProgress | undefined>;
  /** Returns events for this endpoint after a position, at most `limit`. */
  eventsAfter(place: string, limit: number, webhook: WebhookRecord): Promise<ReadEvents>;
  eventAt(place: string): Promise<KeptEvent>;
  /** Returns the body to send for the event, or undefined if its record was removed. */
  body(event: StoredEvent): Promise<string | undefined>;
  /** Waits for a slot, then sends. Resolves with undefined if `begin` no longer allowed the attempt. Never rejects. */
  send(
    event: StoredEvent,
    body: string,
    destination: {
      readonly pace: EndpointPace;
      /**
       * Returns the endpoint's present record when the attempt gets a slot, which may be minutes later. Undefined if
       * the attempt must not begin.
       */
      readonly begin: () => WebhookRecord | undefined;
    },
  ): Promise<SentEvent | undefined>;
  /**
   * Stores within the fenced commit of the tenant's actor. Returns false if the endpoint was deleted, or its events are
   * sent for another loading of the tenant.
   */
  store(webhookId: string, progress: WebhookProgress, attempts: readonly WebhookAttempt[]): Promise<boolean>;
  /** Disables the endpoint, unless it was enabled or moved since the given record was current. */
  disable(
    judgedWebhook: Pick<WebhookRecord, 'id' | 'enabledAtMs'>,
    reason: 'gone' | 'failing',
  ): Promise<void>;
  /** Notifies operators that some events from before that time were removed before the endpoint got them. */
  onMissed(webhookId: string, untilMs: number): void;
}
