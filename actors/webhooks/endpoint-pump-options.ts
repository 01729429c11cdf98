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

/** What came of sending an event, and when it went out. */
export interface SentEvent {
  readonly delivered: Delivered;
  readonly atMs: number;
  readonly durationMs: number;
}

/** Whether an endpoint answered at once the last time. */
export type EndpointPace = 'unknown' | 'quick' | 'slow';

/** The reads, writes and the sending of one endpoint's pump. Each may reject with `RuntimeFailure`. */
export interface EndpointPumpOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** What is stored of how far it came; undefined: nothing yet. */
  progress(webhookId: string): Promise<WebhookProgress | undefined>;
  /** Events for this endpoint behind a place, at most `limit`. */
  after(place: string, limit: number, webhook: WebhookRecord): Promise<ReadEvents>;
  at(place: string): Promise<KeptEvent>;
  /** What is sent of it; undefined: there is nothing to show of it any more. */
  body(event: StoredEvent): Promise<string | undefined>;
  /** Undefined: its turn came when it might not begin any more. Never rejects. */
  send(
    event: StoredEvent,
    body: string,
    to: {
      readonly pace: EndpointPace;
      /**
       * The endpoint as it stands when the turn of the try has come, which may be minutes later. Undefined: the try may not
       * begin any more.
       */
      readonly begin: () => WebhookRecord | undefined;
    },
  ): Promise<SentEvent | undefined>;
  /** Within the fenced commit of the tenant's actor. False: the endpoint is gone, or sent events by another pump. */
  store(webhookId: string, progress: WebhookProgress, attempts: readonly WebhookAttempt[]): Promise<boolean>;
  /** Disables the endpoint, unless it was enabled or moved since it was as it is given here. */
  disable(judged: Pick<WebhookRecord, 'id' | 'enabledAtMs'>, why: 'gone' | 'failing'): Promise<void>;
  /** Tells operators that the endpoint will not get events from before then. */
  missed(webhookId: string, untilMs: number): void;
}
