import { type ObjectId, objectIdGenerator } from '../runtime/object-id.ts';
import type { RequestValue } from './contract/exchange.ts';
import type { HttpOptions } from './http-options.ts';
import { type RecentActivity, recentActivity } from './metrics/recent-activity.ts';
import { countRequests, type RequestCounters } from './metrics/request-metrics.ts';
import { createEventStream, type EventStream } from './operator-events/event-stream.ts';
import { FleetEvents } from './operator-events/fleet-events.ts';
import type { ServingOptions } from './owner/serve-as-owner.ts';
import { WaitsElsewhere } from './owner/waits-elsewhere.ts';
import type { CallsInProgress } from './pipeline/calls-in-progress.ts';
import type { EdgeCall, Responder } from './pipeline/edge.ts';
import { FileReplies } from './tenant-api/edge/file-replies.ts';
import { EventReaders } from './tenant-api/event-streams/event-readers.ts';

/** Most calls in progress of a listener, by default. */
const DEFAULT_MAX_IN_FLIGHT = 4_096;

/** The parts that both listeners share. */
export interface SharedParts {
  readonly newId: (nowMs: number) => ObjectId;
  readonly fleetEvents: FleetEvents;
  readonly events: EventStream;
  readonly eventReaders: EventReaders;
  readonly waitsElsewhere: WaitsElsewhere;
  readonly files: FileReplies;
  readonly count: RequestCounters;
  readonly activity: RecentActivity;
  readonly serving: ServingOptions;
  /** Most calls in progress of a listener. */
  readonly maxInFlight: number;
  /** The public address. If no setting names it, it is known only after the system has chosen a port. */
  readonly address: { publicUrl: string };
}

/** The two steps of a call at a listener, and the calls in progress. */
export interface Listener {
  /** Takes the head of a request. */
  readonly enter: (request: RequestValue) => EdgeCall;
  /** Answers the call, whose body has come. */
  readonly answer: Responder;
  readonly inProgress: CallsInProgress;
}

/** Creates the parts that both listeners share. */
export function sharedParts(options: HttpOptions): SharedParts {
  const { clock, log, forwarder, metrics } = options;
  const newId = objectIdGenerator(options.random);
  const fleetEvents = new FleetEvents({
    feed: options.feed,
    forwarder,
    clock,
    epoch: newId(clock.wallMs()),
  });
  return {
    newId,
    fleetEvents,
    eventReaders: new EventReaders(options),
    waitsElsewhere: new WaitsElsewhere(),
    files: new FileReplies({ bounds: options.files, clock, log }),
    events: createEventStream(fleetEvents, { clock, epoch: newId(clock.wallMs()) }),
    count: countRequests(metrics),
    activity: recentActivity({ clock, feed: options.feed }),
    serving: {
      tenants: options.tenants,
      stillOwner: (id) => forwarder.ownerIsLocal(id),
      isBusy: options.isBusy,
      log,
    },
    maxInFlight: options.maxInFlight ?? DEFAULT_MAX_IN_FLIGHT,
    address: { publicUrl: options.settings.publicUrl ?? '' },
  };
}
