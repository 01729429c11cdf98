import { MINUTE_MS } from '../runtime/durations.ts';
import { consolePages } from './console/console-pages.ts';
import type { HttpOptions } from './http-options.ts';
import { operatorPages } from './operator-api/edge/operator-pages.ts';
import { operatorTokenCheck } from './operator-api/edge/operator-token-check.ts';
import { operatorsEdge } from './operator-api/edge/operators-edge.ts';
import { allActors } from './operator-api/fleet/actor-list.ts';
import { fleetOverview } from './operator-api/fleet/fleet-overview.ts';
import { resumeEverywhere } from './operator-api/fleet/resume-everywhere.ts';
import type { OperatorServices } from './operator-api/services.ts';
import { EventStream } from './operator-events/event-stream.ts';
import { FleetEvents } from './operator-events/fleet-events.ts';
import { CallsInProgress } from './pipeline/calls-in-progress.ts';
import { observed } from './pipeline/observed.ts';
import { withPages } from './pipeline/pages.ts';
import { listRequests, readRefusals } from './request-log/request-log-reader.ts';
import type { Listener, SharedParts } from './shared-parts.ts';

/**
 * Pages that are requested every few seconds. A line for each request would fill the log, so only replies other than
 * 200 are logged.
 */
const PROBES: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics']);
/** Age of the oldest refusals of a tenant that operators see. */
const REFUSALS_MS = 15 * MINUTE_MS;

/** Creates the services that the operators' endpoints use. */
function operatorServices(
  options: HttpOptions,
  { activity }: SharedParts,
  fleetEvents: FleetEvents,
): OperatorServices {
  const { operators, webhooks, ownNode, tenants, shops, audit, forwarder, clock, store } = options;
  const share = async () => ({
    ...(await ownNode.census()),
    ...ownNode.self(),
    slots: activity.intervals(),
  });
  return {
    operators,
    webhooks,
    ownNode,
    tenants,
    shops,
    audit,
    requests: (query) => listRequests(store, query),
    countRefusals: (tenantId) => readRefusals(store, tenantId, clock.wallMs() - REFUSALS_MS),
    actors: (query) => allActors(ownNode, forwarder, query),
    nodeShare: share,
    overview: () => fleetOverview({ own: share, forwarder, nowMs: clock.wallMs() }),
    resumeAll: (filter) =>
      resumeEverywhere(filter, { own: (ownFilter) => ownNode.resumeSuspended(ownFilter), forwarder }),
    eventsSince: (cursor) => fleetEvents.answer(cursor),
  };
}

/** Makes the operators' listener: their endpoints, the console, health and metrics. */
export function operatorListener(options: HttpOptions, parts: SharedParts): Listener<OperatorServices> {
  const { clock, random, log, feed, forwarder, settings, version, health, metrics } = options;
  const { newId, serving, mostInProgress } = parts;
  const fleetEvents = new FleetEvents({ feed, forwarder, clock, epoch: newId(clock.wallMs()) });
  const events = new EventStream(fleetEvents, { clock, epoch: newId(clock.wallMs()) });
  const services = operatorServices(options, parts, fleetEvents);
  const countRequest = parts.requestCounters('admin ');
  const tokenCheck = operatorTokenCheck({ tokens: settings.operatorTokens, clock, log, metrics });
  const enter = operatorsEdge({
    services,
    serving,
    tokenCheck,
    forwarder,
    audit: options.audit,
    clock,
    random,
    newId: () => newId(clock.wallMs()),
  });
  const pages = [
    ...consolePages(),
    ...operatorPages({ tokenCheck, version, health, metrics, events, clock }),
  ];
  const inProgress = new CallsInProgress(mostInProgress);
  const answer = observed(withPages(pages), {
    clock,
    log,
    newId,
    inProgress,
    observe(request) {
      countRequest(request);
      if (request.status !== 200 || !PROBES.has(request.route)) log.debug(request, 'operator request');
    },
  });
  return {
    services,
    enter,
    answer,
    inProgress,
    close() {
      events.close();
      fleetEvents.close();
    },
  };
}
