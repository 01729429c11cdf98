import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { Random } from '../../runtime/random.ts';
import type { StoredEvent } from '../tenants/tenant-event.ts';
import type { WebhookAttempt, WebhookProgress, WebhookRecord } from '../tenants/webhook-record.ts';
import type { Delivered } from './deliver.ts';

/** New events, and the place behind all that was looked at for them. */
export interface ReadEvents extends Missed {
  readonly events: readonly StoredEvent[];
  readonly place: string;
}

/** The event at a place; undefined: it was erased or cut off. */
export interface KeptEvent extends Missed {
  readonly event: StoredEvent | undefined;
}

export interface Missed {
  /** Events from before then that were to be read are cut off; absent: none are. */
  readonly missedUntilMs?: number | undefined;
}

/** The result of sending an event, and the moment it was sent. */
export interface SentEvent {
  readonly delivered: Delivered;
  readonly atMs: number;
  readonly durationMs: number;
}

/** The speed of an endpoint's last answer. */
export type EndpointPace = 'unknown' | 'quick' | 'slow';

/** The reads, writes and the sending of one endpoint's pump. Each may reject with `RuntimeFailure`. */
export interface EndpointPumpOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Reads the endpoint's stored progress; undefined: none yet. */
  progress(webhookId: string): Promise<WebhookProgress | undefined>;
  /** Events for this endpoint behind a place, at most `limit`. */
  after(place: string, limit: number, webhook: WebhookRecord): Promise<ReadEvents>;
  at(place: string): Promise<KeptEvent>;
  /** Returns the body to send for the event; undefined: its record is gone. */
  body(event: StoredEvent): Promise<string | undefined>;
  /** Undefined: its turn came when it might not begin any more. Never rejects. */
  send(
    event: StoredEvent,
    body: string,
    to: {
      readonly pace: EndpointPace;
      /**
       * Returns the endpoint's present record when the try's turn comes, which may be minutes later. Undefined: the try
       * must not begin.
       */
      readonly begin: () => WebhookRecord | undefined;
    },
  ): Promise<SentEvent | undefined>;
  /** Within the fenced commit of the tenant's actor. False: the endpoint is gone, or sent events by another pump. */
  store(webhookId: string, progress: WebhookProgress, attempts: readonly WebhookAttempt[]): Promise<boolean>;
  /** Disables the endpoint, unless it was enabled or moved since it was as it is given here. */
  disable(judged: Pick<WebhookRecord, 'id' | 'enabledAtMs'>, why: 'gone' | 'failing'): Promise<void>;
  /** Notifies operators that the endpoint will not get events from before then. */
  missed(webhookId: string, untilMs: number): void;
}
