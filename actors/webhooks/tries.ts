import type { StoredEvent } from '../tenants/tenant-event.ts';
import type { WebhookRetry } from '../tenants/webhook-record.ts';
import type { Delivered } from './deliver.ts';

/** The address of an endpoint for as long as it has it; one that it gets back is another. */
export interface EndpointAddress {
  /** The endpoint has another one by now, of which nothing is said by what comes of a try here. */
  isFormer: boolean;
}

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
  readonly address: EndpointAddress;
  /** It is not one of those that were sent before. */
  readonly isNew: boolean;
  readonly end: Promise<Ended | undefined>;
}

/** One try that is over, and what came of it. */
export interface Ended extends Try {
  readonly address: EndpointAddress;
  readonly atMs: number;
  readonly durationMs: number;
  /** Undefined: there is nothing to show of the event any more. */
  readonly delivered: Delivered | undefined;
}
