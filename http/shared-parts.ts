import { type ObjectId, objectIdGenerator } from '../runtime/object-id.ts';
import type { RequestValue } from './contract/exchange.ts';
import type { HttpOptions } from './http-options.ts';
import { RecentActivity } from './metrics/recent-activity.ts';
import { type RequestCounters, requestCounters } from './metrics/request-metrics.ts';
import type { ServingOptions } from './owner/serve-as-owner.ts';
import type { CallsInProgress } from './pipeline/calls-in-progress.ts';
import type { EdgeCall, Responder } from './pipeline/edge.ts';

/** Most calls in progress of a listener, by default. */
const DEFAULT_MOST_IN_PROGRESS = 4_096;

/** The parts that both listeners share. */
export interface SharedParts {
  readonly newId: (nowMs: number) => ObjectId;
  readonly requestCounters: RequestCounters;
  readonly activity: RecentActivity;
  readonly serving: ServingOptions;
  /** Most calls in progress of a listener. */
  readonly mostInProgress: number;
  /** The public address. If no setting names it, it is empty until the listener has its port. */
  readonly address: { publicUrl: string };
}

/** A listener: the two steps of a call, its calls in progress, and the services that its endpoints use. */
export interface Listener<Services> {
  /** Calls that another node forwards use these services, too. */
  readonly services: Services;
  /** Takes the head of a request. */
  readonly enter: (request: RequestValue) => EdgeCall;
  /** Answers the call, whose body has come. */
  readonly answer: Responder;
  readonly inProgress: CallsInProgress;
  /** Ends all streams and waits, present and future ones. */
  close(): void;
}

/** Creates the parts that both listeners share. */
export function sharedParts(options: HttpOptions): SharedParts {
  const { clock, feed, forwarder, log, metrics } = options;
  return {
    newId: objectIdGenerator(options.random),
    requestCounters: requestCounters(metrics),
    activity: new RecentActivity({ clock, feed }),
    serving: {
      tenants: options.tenants,
      stillOwner: (id) => forwarder.ownerIsLocal(id),
      isBusy: options.isBusy,
      log,
    },
    mostInProgress: options.mostInProgress ?? DEFAULT_MOST_IN_PROGRESS,
    address: { publicUrl: options.settings.publicUrl ?? '' },
  };
}
