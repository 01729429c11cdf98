import { existsSync, readFileSync } from 'node:fs';
import { AddressGuard } from '../actors/outbound/address-guard.ts';
import type { FileBounds } from '../actors/outbound/file-download.ts';
import { nameLookup } from '../actors/outbound/name-lookup.ts';
import { credentialCiphers } from '../actors/sessions/credential-cipher.ts';
import { egressVault } from '../actors/sessions/egress-vault.ts';
import { checkCredentialsKeys } from '../actors/sessions/main-thread/credentials-check.ts';
import { startQrImages } from '../actors/sessions/main-thread/qr-image.ts';
import type { SessionHost, SessionListener } from '../actors/sessions/session-host.ts';
import { numberVault } from '../actors/shops/records/number-vault.ts';
import { everyShop } from '../actors/tenants/every-shop.ts';
import { tenantAddress } from '../actors/tenants/tenant-keys.ts';
import { AuditLog } from '../http/audit-log/audit-log.ts';
import type { HttpOptions } from '../http/http-options.ts';
import { exportMessages } from '../http/metrics/message-metrics.ts';
import { type Metrics, makeMetrics } from '../http/metrics/metrics.ts';
import {
  exportAttachmentRoom,
  exportBuild,
  exportNode,
  exportProcess,
  exportStore,
  runtimeObserver,
} from '../http/metrics/node-metrics.ts';
import { exportSessions } from '../http/metrics/session-metrics.ts';
import { exportShops, shopCounter } from '../http/metrics/shop-metrics.ts';
import { exportWebhooks } from '../http/metrics/webhook-metrics.ts';
import type { Forwarder } from '../http/owner/forwarder.ts';
import { RequestLog } from '../http/request-log/request-log.ts';
import { type RunningHttp, startHttp } from '../http/start-http.ts';
import { sleep, systemClock } from '../runtime/clock.ts';
import { DAY_MS } from '../runtime/durations.ts';
import type { Logger } from '../runtime/logger.ts';
import { type LinkTopic, linkTopics } from '../runtime/node/link-topics.ts';
import { type RuntimeNode, startNode } from '../runtime/node/node.ts';
import { systemRandom as random } from '../runtime/random.ts';
import { textCipher } from '../runtime/text-cipher.ts';
import { composeActors, type RunningActors } from './compose-actors.ts';
import { webhookSettings } from './compose-webhooks.ts';
import type { ServiceEnvironment } from './environment.ts';
import { otlpTracing, type RunningTracing } from './otlp-tracing.ts';
import {
  descriptorCount,
  memoryLimitBytes,
  memoryUse,
  type ReadUse,
  watchResources,
} from './resource-watch.ts';
import { type SparedDescriptors, sparedDescriptors } from './spared-descriptors.ts';

/** One node of the service, from the store up to the listeners. */
export interface Service {
  readonly node: RuntimeNode;
  readonly actors: RunningActors;
  readonly http: RunningHttp;
  readonly requestLog: RequestLog;
  readonly tracing: RunningTracing | undefined;
  /** Logs when memory or descriptors are nearly used up. */
  readonly resources: { stop(): void };
  /**
   * `/readyz` answers 503 from now on, so that load balancers stop sending requests. Later requests are still answered.
   */
  withdraw(): void;
}

export interface ServiceOptions {
  readonly environment: ServiceEnvironment;
  readonly log: Logger;
  /** Starts the sending component; its events go to the listener. */
  readonly startHost: (node: RuntimeNode, listener: SessionListener) => SessionHost;
  /** Called when another process runs under this node's id: this one must end. */
  readonly onLost: () => void;
  /** Called if the node could not start, before its parts are stopped. */
  readonly onFailed?: (error: unknown) => void;
  /** If it is aborted during the start, the node takes no lease, or gives back what it took. */
  readonly signal?: AbortSignal;
}

/** Returns the bounds for attachments from people. They are the same as for attachments that are sent. */
function fileBounds({ media, noiseRootKey }: ServiceEnvironment): FileBounds {
  const guard = new AddressGuard({ allowLoopback: noiseRootKey !== undefined, ...media });
  return { guard, resolve: nameLookup(media.nameServers), ca: undefined };
}

/** The parts of a node that have started so far. */
interface StartedParts {
  tracing?: RunningTracing | undefined;
  node?: RuntimeNode;
  requestLog?: RequestLog;
  actors?: RunningActors;
  http?: RunningHttp;
}

/**
 * Starts a node of the service. Resolves when it takes requests. Rejects if Redis is not reachable or lacks what each
 * start requires, or if its data has another number of shards or other credentials keys. It also rejects if an address
 * is not free, and with the reason of `signal`. Before it rejects, it stops all that has started, and calls `onFailed`
 * before that stop.
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  const parts: StartedParts = {};
  try {
    return await startAllParts(options, parts);
  } catch (error) {
    options.onFailed?.(error);
    // The failure of the start is more useful than that of the stop.
    await runSteps(stopsOf(parts)).catch((stopError: unknown) =>
      options.log.error({ err: stopError }, 'a node that did not start could not be stopped'),
    );
    throw error;
  }
}

/** Starts the parts of a node one after the other, and adds each to `parts`. */
async function startAllParts(
  { environment, log, startHost, onLost, signal }: ServiceOptions,
  parts: StartedParts,
): Promise<Service> {
  const metrics = makeMetrics();
  const version = packageVersion();
  const tracing = await startTracing(environment, version);
  parts.tracing = tracing;
  const node = await startNode({
    ...nodeSettings(environment),
    clock: systemClock,
    random,
    log,
    onLost,
    observer: runtimeObserver(metrics, tracing),
  });
  parts.node = node;
  const { clock } = node;
  await checkCredentialsKeys(node.store, environment.credentialsKeys, everyShop(node.store));
  const logs = openLogs(environment, { store: node.store, clock, random, log });
  parts.requestLog = logs.requestLog;
  const topic = linkTopics(node.link);
  const requests = topic('requests');
  const actors = await composeActors({
    ...actorSettings(environment),
    node,
    clock,
    random,
    log,
    startHost: (listener) => startHost(node, listener),
    qrImages: startQrImages({ log }),
    poolLink: topic('pool'),
    operatorsLink: topic('operators'),
    tracing,
    counting: shopCounter(metrics),
    ...logs,
  });
  parts.actors = actors;
  const descriptors = descriptorCount();
  exportFigures(metrics, { node, actors, descriptors, version, revision: environment.revision });
  let isWithdrawn = false;
  let spare: SparedDescriptors | undefined;
  const http = await startHttp({
    settings: environment,
    version,
    ...actors,
    webhooks: actors.webhooks.operations,
    forwarder: forwarderThrough(node, requests),
    store: node.store,
    files: fileBounds(environment),
    ...logs,
    clock,
    random,
    log,
    metrics,
    tracing,
    health: { isReady: () => !isWithdrawn && !spare?.isSparing && node.isReady() },
    isBusy: () => node.isBusy(),
  });
  parts.http = http;
  requests.serve((payload) => http.serveForwarded(payload));
  spare = sparedDescriptors({ http, log });
  signal?.throwIfAborted();
  await node.run();
  signal?.throwIfAborted();
  actors.repairDirectory();
  return {
    node,
    actors,
    http,
    requestLog: logs.requestLog,
    tracing,
    resources: watchResources({
      clock,
      log,
      resources: [
        { warning: 'descriptors are nearly used up', read: descriptors, onSeen: spare.onSeen },
        { warning: 'memory is nearly used up', read: memoryUse },
      ],
    }),
    withdraw() {
      isWithdrawn = true;
    },
  };
}

/** Opens the logs of callers' requests and of operators' changes. */
function openLogs(
  { requestLogMaxEntries, requestLogRetentionDays, requestLogMaxBytes: maxBytes }: ServiceEnvironment,
  parts: Pick<HttpOptions, 'store' | 'clock' | 'random' | 'log'>,
): Pick<HttpOptions, 'requestLog' | 'audit'> {
  const maxAgeMs = requestLogRetentionDays * DAY_MS;
  const limits = { maxEntriesPerTenant: requestLogMaxEntries, maxAgeMs, maxBytes };
  return { requestLog: new RequestLog({ ...parts, limits }), audit: new AuditLog({ ...parts, maxAgeMs }) };
}

/** Adds the figures of the build, the store, the node, its sessions, shops, messages and webhooks to /metrics. */
function exportFigures(
  metrics: Metrics,
  options: Pick<Service, 'node' | 'actors'> & {
    readonly descriptors: ReadUse;
    readonly version: string;
    readonly revision: string;
  },
): void {
  const { node, actors, descriptors, version, revision } = options;
  exportBuild(metrics, { version, revision });
  exportNode(metrics, node);
  exportSessions(metrics, actors.host);
  exportShops(metrics, actors, node.clock);
  exportMessages(metrics, actors.feed);
  exportWebhooks(metrics, actors.webhooks);
  exportStore(metrics, node);
  exportAttachmentRoom(metrics);
  exportProcess(metrics, { descriptors, memoryLimitBytes });
}

function nodeSettings(environment: ServiceEnvironment) {
  const { redisUrl, durability, nodeId, shards, credentialsKeys } = environment;
  return {
    redisUrl,
    durability,
    nodeId,
    shards,
    limits: { deadLetterAgeMs: environment.requestLogRetentionDays * DAY_MS },
    deadLetterCipher: textCipher(credentialsKeys, 'dead-letters'),
    linkCipher: textCipher(credentialsKeys, 'node-link'),
  };
}

function actorSettings(environment: ServiceEnvironment) {
  const { redisUrl, sendGap, platformName, credentialsKeys, eventMaxEntries } = environment;
  return {
    redisUrl,
    sendGap,
    platformName,
    vault: numberVault(credentialsKeys),
    egressVault: egressVault(credentialCiphers(credentialsKeys)),
    webhooks: webhookSettings(environment),
    retentionMs: environment.messageRetentionDays * DAY_MS,
    eventLimits: { maxAgeMs: environment.eventRetentionDays * DAY_MS, maxEntries: eventMaxEntries },
  };
}

/** Starts to trace, if there is a collector. Without one nothing of the SDK is loaded. */
async function startTracing(
  { tracesEndpoint, tracesServiceName, tracesKeptShare: keptShare, nodeId }: ServiceEnvironment,
  version: string,
): Promise<RunningTracing | undefined> {
  if (tracesEndpoint === undefined) return undefined;
  return otlpTracing({
    endpoint: tracesEndpoint,
    serviceName: tracesServiceName,
    version,
    nodeId,
    keptShare,
    random,
  });
}

/** Carries requests to the node that owns their tenant's shard, over its topic of the runtime's link. */
function forwarderThrough(node: RuntimeNode, link: LinkTopic): Forwarder {
  const { actors } = node;
  return {
    ownerIsLocal: (tenantId) => actors.owns(tenantAddress(tenantId).shard),
    ownership(tenantId) {
      const owner = node.link.ownerOf(tenantAddress(tenantId).shard);
      return owner === undefined ? undefined : `${owner.incarnation} ${owner.epoch}`;
    },
    // Calls come before the node runs. It may become the owner then.
    ownerMayCome: () =>
      node.incarnation === '' || node.isReady() || node.nodes().some(({ isSelf }) => !isSelf),
    forward: (tenantId, payload, timeoutMs) => link.call(tenantAddress(tenantId).shard, payload, timeoutMs),
    otherNodes: () => node.nodes().flatMap(({ nodeId, isSelf }) => (isSelf ? [] : [nodeId])),
    forwardToNode: (nodeId, payload, timeoutMs) => link.call(nodeId, payload, timeoutMs),
  };
}

/**
 * Shortest duration of a stop. A kept connection ends with the next answer on it. This code cannot see whether that
 * answer is still being written. A process that ended at once would cut it.
 */
const KEPT_CONNECTIONS_MS = 500;

/**
 * How long a request in progress may delay the hand-over, of the 10 s that a stop may take. For most calls, forwarding
 * and a commit may take 2 s each. Others, such as a connect, may take longer than this bound. A request that has half
 * arrived may never be complete. A webhook's endpoint may take 15 s for its answer. If that outcome is not stored in
 * time, the next owner repeats the attempt, and its outcome counts.
 */
const CALLS_MS = 4_000;
/** The bound for requests that came during the hand-over. */
const LAST_CALLS_MS = 1_000;

/**
 * Stops the node. First the listeners and the webhooks stop, so that their requests and attempts end in time. The
 * shards then settle work in progress, while requests on kept connections are answered by the next owners. The rest
 * stops last. If a step fails, the later ones still follow. Rejects then at the end, with all errors in their order.
 */
export async function stopService({ node, actors, resources, ...parts }: Service): Promise<void> {
  const lastCallers = sleep(node.clock, KEPT_CONNECTIONS_MS);
  const progressEnd = sleep(node.clock, CALLS_MS);
  await runSteps([
    () => resources.stop(),
    () => actors.endWaits(),
    () => {
      const attemptsSettled = Promise.race([actors.webhooks.pump.settle(), progressEnd]);
      return Promise.all([parts.http.close({ graceMs: CALLS_MS }), attemptsSettled]);
    },
    () => Promise.all([node.handOver(), lastCallers]),
    ...stopsOf({ node, actors, ...parts }),
  ]);
}

type Step = () => unknown;

/** Returns the stops of these parts, in their order. */
function stopsOf({ http, requestLog, node, actors, tracing }: StartedParts): Step[] {
  return [
    () => http?.close({ graceMs: LAST_CALLS_MS }),
    () => requestLog?.close(),
    () => node?.stop(),
    () => actors?.stop(),
    () => tracing?.stop(),
  ];
}

/** Runs the steps of a stop, one after the other, even if one of them fails. Rejects then at the end. */
async function runSteps(steps: readonly Step[]): Promise<void> {
  const errors: unknown[] = [];
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw new AggregateError(errors, 'some parts of the node could not be stopped');
}

/** Returns the version of this build, from the package that it was made from. */
function packageVersion(): string {
  // The compiled file lies one folder deeper than its source.
  const url = ['../package.json', '../../package.json']
    .map((path) => new URL(path, import.meta.url))
    .find(existsSync);
  if (url === undefined) throw new Error('package.json is missing beside the program');
  return (JSON.parse(readFileSync(url, 'utf8')) as { version: string }).version;
}
