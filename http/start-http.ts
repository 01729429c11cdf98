import { fileURLToPath } from 'node:url';
import type { FleetOperations, OperatorOperations } from '../actors/operators/operator-operations.ts';
import type { EventOperations } from '../actors/shop/record/event-operations.ts';
import type { ShopOperations } from '../actors/shop/record/shop-operations.ts';
import type { TenantOperations } from '../actors/tenant/tenant-operations.ts';
import type { KeyDirectory } from '../actors/tenant/tenant-view.ts';
import type { WebhookOperations } from '../actors/webhooks/webhook-operations.ts';
import type { Clock } from '../runtime/clock.ts';
import { type ObjectId, objectIdGenerator } from '../runtime/object-id.ts';
import type { Random } from '../runtime/random.ts';
import type { Store } from '../runtime/store.ts';
import type { Tracing } from '../runtime/tracing.ts';
import { articlePages } from './articles/article-pages.ts';
import { AuditLog } from './audit-log/audit-log.ts';
import { consolePages } from './console/console-pages.ts';
import type { OperatorToken } from './contract/operator-role.ts';
import { createEventStream, type EventStream } from './events/event-stream.ts';
import { FleetEvents } from './events/fleet-events.ts';
import type { EventFeed } from './events/operator-event.ts';
import { exportMessageLatency } from './metrics/message-latency.ts';
import type { Metrics } from './metrics/metrics.ts';
import { type RecentActivity, recentActivity } from './metrics/recent-activity.ts';
import { countRequests, type RequestCounters } from './metrics/request-metrics.ts';
import { documentPage } from './openapi/document-page.ts';
import { referencePages } from './openapi/reference.ts';
import { allActors } from './operator-api/actor-list.ts';
import { createOperatorDoor } from './operator-api/door.ts';
import { OPERATOR_BASE_PATH, OPERATOR_ENDPOINTS } from './operator-api/endpoints.ts';
import { fleetOverview } from './operator-api/fleet-overview.ts';
import { createOperatorFront, operatorBodies } from './operator-api/front.ts';
import { operatorPages } from './operator-api/pages.ts';
import { resumeEverywhere } from './operator-api/resume-everywhere.ts';
import type { OperatorServices } from './operator-api/services.ts';
import type { OwnerOptions } from './owner/answer-as-owner.ts';
import type { Forwarder } from './owner/remote-owner.ts';
import { BodyBudget } from './pipeline/body-budget.ts';
import { callerAddress } from './pipeline/client-address.ts';
import type { BodyPolicy } from './pipeline/front.ts';
import { type ObservedFront, observed } from './pipeline/observed.ts';
import { withPages } from './pipeline/pages.ts';
import { createRouter } from './pipeline/router.ts';
import { tracedFront } from './pipeline/traced-front.ts';
import { type LogLineParts, logLineCache, type RequestKind } from './request-log/log-line-cache.ts';
import type { RequestLogger } from './request-log/process-log.ts';
import { RequestLog, type RequestLogLimits } from './request-log/request-log.ts';
import { createRequestLogReader } from './request-log/request-log-reader.ts';
import { createForwardedRequests } from './serve-forwarded.ts';
import { startServer } from './server.ts';
import { type ArticleSettings, articleLibrary } from './tenant-api/articles.ts';
import { API_BASE_PATH, API_ENDPOINTS } from './tenant-api/endpoints.ts';
import { EventReaders } from './tenant-api/event-readers.ts';
import { apiBodies, createApiFront } from './tenant-api/front.ts';
import type { ApiServices } from './tenant-api/services.ts';

/** The settings and services of the two listeners. */
export interface HttpOptions {
  readonly host: string;
  /** 0: the system's choice. */
  readonly port: number;
  readonly adminHost: string;
  readonly adminPort: number;
  /** The operators' tokens, with a name and a role each. */
  readonly operatorTokens: readonly OperatorToken[];
  /** Addresses or CIDR ranges whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[];
  /** Where callers reach the API; absent: the listener's own address. */
  readonly publicUrl: string | undefined;
  /** Where a shop is completed, with `{PUBLIC_URL}` and `{shopId}` in it. */
  readonly setupUrlTemplate: string;
  /** What the articles tell callers of the settings in force. */
  readonly articleSettings: ArticleSettings;
  /** Of the build, for /healthz. */
  readonly version: string;
  readonly tenants: TenantOperations;
  readonly shops: ShopOperations;
  readonly tenantEvents: EventOperations;
  readonly operators: OperatorOperations;
  readonly webhooks: WebhookOperations;
  readonly fleet: FleetOperations;
  readonly keys: KeyDirectory;
  readonly forwarder: Forwarder;
  readonly store: Pick<Store, 'read' | 'append'>;
  readonly requestLog: RequestLogLimits;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: RequestLogger;
  readonly metrics: Metrics;
  readonly events: EventFeed;
  /** Makes spans of the tenants' requests; absent: nothing is traced. */
  readonly tracing?: Tracing | undefined;
  readonly health: { ready(): boolean | Promise<boolean> };
  /** True while the actors of this node have as much in hand as they may. Default: never. */
  readonly isBusy?: () => boolean;
  /** Requests in hand a listener takes before it answers OVERLOADED. */
  readonly maxInFlight?: number;
}

/** Both listeners, running. */
export interface RunningHttp {
  readonly apiUrl: string;
  readonly adminUrl: string;
  /** Runs a request that another node handed over. */
  serveForwarded(payload: string): Promise<string>;
  /** Takes nothing new, answers what is in hand (at most `graceMs`, default 10 s), writes out the request log. */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

const DEFAULT_MAX_IN_FLIGHT = 4_096;
/** Of the requests in hand, how many one tenant may have: four tenants at their bound fill a listener, one does not. */
const TENANT_SHARE = 0.25;
const DEFAULT_GRACE_MS = 10_000;
/** Asked every few seconds for ever; a line each would fill the log. Only replies other than 200 are logged. */
const PROBES: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics']);
/** How far back an operator is told what was refused to a tenant. */
const REFUSALS_MS = 15 * 60_000;
const ARTICLES_FOLDER = fileURLToPath(new URL('./docs/', import.meta.url));

/** Starts the tenants' and the operators' listeners. Rejects when an address cannot be had. */
export async function startHttp(options: HttpOptions): Promise<RunningHttp> {
  const { clock, log, forwarder, metrics } = options;
  const newId = objectIdGenerator(options.random);
  const fleetEvents = new FleetEvents({
    feed: options.events,
    forwarder,
    clock,
    epoch: newId(clock.wallMs()),
  });
  const parts: Parts = {
    newId,
    requestLog: new RequestLog({ store: options.store, clock, log, limits: options.requestLog }),
    audit: auditLog(options, newId),
    fleetEvents,
    eventReaders: new EventReaders(options),
    events: createEventStream(fleetEvents, { clock, epoch: newId(clock.wallMs()) }),
    count: countRequests(metrics),
    partsOf: logLineCache(),
    activity: recentActivity({ clock, feed: options.events, metrics }),
    owner: {
      tenants: options.tenants,
      stillOwner: (id) => forwarder.stillOwner(id),
      isBusy: options.isBusy ?? (() => false),
      log,
    },
    address: { publicUrl: options.publicUrl ?? '' },
  };
  const { requestLog, events, eventReaders, owner, address } = parts;
  const apiSide = apiServices(options, address);
  const operatorSide = operatorServices(options, parts);
  const api = apiListener(options, parts, apiSide);
  const admin = operatorListener(options, parts, operatorSide);
  exportMessageLatency(options.events, metrics);
  const bodies = new BodyBudget();
  exportHttp(metrics, parts, { bodies, inHand: () => api.inFlight() + admin.inFlight() });

  const caller = callerAddress(options.trustedProxies);
  const { host, port, adminHost, adminPort } = options;
  const apiServer = await startServer({
    host,
    port,
    answer: api.answer,
    bodies,
    bodyPolicy: api.bodyPolicy,
    callerAddress: caller,
    eventsPath: `${API_BASE_PATH}/events`,
  });
  const adminServer = await startServer({
    host: adminHost,
    port: adminPort,
    answer: admin.answer,
    bodies,
    bodyPolicy: admin.bodyPolicy,
    callerAddress: caller,
    eventsPath: `${OPERATOR_BASE_PATH}/events`,
  }).catch(async (failure: unknown) => {
    await apiServer.close(0);
    throw failure;
  });
  const apiUrl = `http://${inUrl(host)}:${apiServer.port}`;
  if (address.publicUrl === '') address.publicUrl = apiUrl;

  return {
    apiUrl: apiUrl + API_BASE_PATH,
    adminUrl: `http://${inUrl(adminHost)}:${adminServer.port}`,
    serveForwarded: createForwardedRequests({
      api: { endpoints: API_ENDPOINTS, services: apiSide },
      operator: { endpoints: OPERATOR_ENDPOINTS, services: operatorSide },
      owner,
    }),
    async close({ graceMs = DEFAULT_GRACE_MS } = {}) {
      events.close();
      eventReaders.close();
      fleetEvents.close();
      await Promise.all([apiServer.close(graceMs), adminServer.close(graceMs)]);
      await requestLog.close();
    },
  };
}

/** Registers the gauges and counters of the front door. */
function exportHttp(
  metrics: Metrics,
  { requestLog, eventReaders }: Pick<Parts, 'requestLog' | 'eventReaders'>,
  { bodies, inHand }: { readonly bodies: BodyBudget; readonly inHand: () => number },
): void {
  metrics.source({
    name: 'msgapi_http_requests_in_hand',
    help: 'Requests being answered now.',
    kind: 'gauge',
    read: inHand,
  });
  metrics.source({
    name: 'msgapi_http_body_bytes_in_reading',
    help: 'Memory kept for request bodies that have not arrived as a whole.',
    kind: 'gauge',
    read: () => bodies.bytes,
  });
  metrics.source({
    name: 'msgapi_http_event_streams',
    help: "Streams of tenants' events that are open at this node's door.",
    kind: 'gauge',
    read: () => eventReaders.count,
  });
  metrics.source({
    name: 'msgapi_request_log_dropped_total',
    help: 'Request log entries given up because Redis was away for too long.',
    kind: 'counter',
    read: () => requestLog.dropped,
  });
}

function auditLog({ store, requestLog, clock }: HttpOptions, newId: Parts['newId']): AuditLog {
  return new AuditLog({ store, maxAgeMs: requestLog.maxAgeMs, newId: () => newId(clock.wallMs()) });
}

/** The parts that both listeners share. */
interface Parts {
  readonly newId: (nowMs: number) => ObjectId;
  readonly requestLog: RequestLog;
  readonly audit: AuditLog;
  readonly fleetEvents: FleetEvents;
  readonly events: EventStream;
  readonly eventReaders: EventReaders;
  readonly count: RequestCounters;
  readonly partsOf: (kind: RequestKind) => LogLineParts;
  readonly activity: RecentActivity;
  readonly owner: OwnerOptions;
  /** Known for certain only once the system chose a port. */
  readonly address: { publicUrl: string };
}

/** The front of a listener, and its rules for bodies. */
interface Listener extends ObservedFront {
  readonly bodyPolicy: BodyPolicy;
}

function apiListener(options: HttpOptions, parts: Parts, services: ApiServices): Listener {
  const { clock, random, log, keys, forwarder, maxInFlight = DEFAULT_MAX_IN_FLIGHT } = options;
  const { newId, requestLog, activity, owner, address } = parts;
  const countRequest = parts.count('');
  const router = createRouter(API_BASE_PATH, API_ENDPOINTS);
  const front = createApiFront({
    router,
    services,
    owner,
    keys,
    forwarder,
    clock,
    random,
    eventReaders: parts.eventReaders,
    maxInFlightPerTenant: Math.ceil(maxInFlight * TENANT_SHARE),
  });
  const pages = [documentPage(address), ...referencePages(), ...articlePages(services.articles)];
  const door = observed(tracedFront(withPages(pages, front), options.tracing), {
    clock,
    log,
    newId,
    partsOf: parts.partsOf,
    maxInFlight,
    observe(answered) {
      requestLog.record(answered);
      activity.countRequest(answered);
      countRequest(answered);
      log.request(answered, 'request');
    },
  });
  return { ...door, bodyPolicy: apiBodies({ router, keys }) };
}

function operatorListener(options: HttpOptions, parts: Parts, services: OperatorServices): Listener {
  const { clock, random, log, forwarder, operatorTokens, version, health, metrics } = options;
  const { newId, owner, events } = parts;
  const countRequest = parts.count('admin ');
  const door = createOperatorDoor({ tokens: operatorTokens, clock, log, metrics });
  const router = createRouter(OPERATOR_BASE_PATH, OPERATOR_ENDPOINTS);
  const operators = createOperatorFront({
    router,
    services,
    owner,
    door,
    forwarder,
    audit: parts.audit,
    clock,
    random,
    newId: () => newId(clock.wallMs()),
  });
  const pages = [...consolePages(), ...operatorPages({ door, version, health, metrics, events })];
  const front = observed(withPages(pages, operators), {
    clock,
    log,
    newId,
    partsOf: parts.partsOf,
    maxInFlight: options.maxInFlight ?? DEFAULT_MAX_IN_FLIGHT,
    observe(answered) {
      countRequest(answered);
      if (answered.status !== 200 || !PROBES.has(answered.route)) log.request(answered, 'operator request');
    },
  });
  return { ...front, bodyPolicy: operatorBodies({ router, door }) };
}

function apiServices(options: HttpOptions, address: { readonly publicUrl: string }): ApiServices {
  const { setupUrlTemplate } = options;
  return {
    tenants: options.tenants,
    shops: options.shops,
    events: options.tenantEvents,
    articles: articleLibrary(ARTICLES_FOLDER, options.articleSettings, {
      apiUrl: () => address.publicUrl + API_BASE_PATH,
      publicUrl: () => address.publicUrl,
    }),
    setupUrl: (shopId) =>
      setupUrlTemplate.replaceAll('{PUBLIC_URL}', () => address.publicUrl).replaceAll('{shopId}', shopId),
  };
}

function operatorServices(
  options: HttpOptions,
  { requestLog, audit, activity, fleetEvents }: Parts,
): OperatorServices {
  const { operators, webhooks, fleet, tenants, shops, forwarder, clock } = options;
  const requests = createRequestLogReader(options.store);
  const share = async () => ({
    ...(await fleet.census()),
    ...fleet.self(),
    slots: activity.slots(),
  });
  return {
    operators,
    webhooks,
    fleet,
    tenants,
    shops,
    requests,
    audit,
    countRefusals: (tenantId) => requests.countRefusals(tenantId, clock.wallMs() - REFUSALS_MS),
    actors: (query) => allActors(fleet, forwarder, query),
    nodeShare: share,
    overview: async () => fleetOverview({ own: await share(), forwarder, nowMs: clock.wallMs() }),
    resumeAll: (filter) =>
      resumeEverywhere(filter, { own: (local) => fleet.resumeSuspended(local), forwarder }),
    eventsSince: (since) => fleetEvents.answer(since),
    forgetRequests: (tenantId) => requestLog.forget(tenantId),
  };
}

/** What listens on every address is reached by the loopback one; a v6 address stands in brackets. */
function inUrl(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
