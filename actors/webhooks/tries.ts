import type { StoredEvent } from '../tenant/tenant-event.ts';
import type { WebhookRetry } from '../tenant/webhook-record.ts';
import type { Delivered } from './deliver.ts';

/** An event on its way, and how often it was tried before. */
export interface Try {
  readonly event: StoredEvent;
  readonly tries: number;
  /** What stood among the retries for it; undefined: it is new. */
  readonly retry?: WebhookRetry;
}

/** A try that takes long: others go out meanwhile, and its event stands among the retries. */
export interface LateTry extends Try {
  readonly retry: WebhookRetry;
  /** It is not one of those that were sent before. */
  readonly isNew: boolean;
  readonly end: Promise<Ended | undefined>;
}

/** One try of an event, and what came of it. */
export interface Tried {
  readonly event: StoredEvent;
  /** How often it was tried before. */
  readonly tries: number;
  readonly atMs: number;
  readonly durationMs: number;
  /** Undefined: there is nothing to show of the event any more. */
  readonly delivered: Delivered | undefined;
}

/** One try that is over. */
export interface Ended extends Tried, Pick<Try, 'retry'> {
  /** The address that answered. */
  readonly url: string;
}
