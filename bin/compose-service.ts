import { existsSync, readFileSync } from 'node:fs';
import { checkCredentialsKeys } from '../actors/session/main-thread/credentials-check.ts';
import { startQrImages } from '../actors/session/main-thread/qr-image.ts';
import type { SessionHost, SessionListener } from '../actors/session/session-host.ts';
import { createMetrics } from '../http/metrics/metrics.ts';
import type { RequestLogger } from '../http/request-log/process-log.ts';
import { type RunningHttp, startHttp } from '../http/start-http.ts';
import { systemClock } from '../runtime/clock.ts';
import { linkTopics } from '../runtime/node/link-topics.ts';
import { type RuntimeNode, startNode } from '../runtime/node/node.ts';
import { sealedLink } from '../runtime/node/sealed-link.ts';
import { systemRandom as random } from '../runtime/random.ts';
import { textCipher } from '../runtime/text-cipher.ts';
import { composeActors, type RunningActors } from './compose-actors.ts';
import type { ServiceEnvironment } from './environment.ts';
import { exportNode, runtimeObserver } from './node-metrics.ts';
import { forwarderThrough } from './request-forwarder.ts';
import { exportShops } from './shop-metrics.ts';
import { exportStore } from './store-metrics.ts';

const DAY_MS = 24 * 3_600_000;

/** One node of the service, from the store up to the front door. */
export interface Service {
  readonly node: RuntimeNode;
  readonly actors: RunningActors;
  readonly http: RunningHttp;
}

/** The settings and parts of a service. */
export interface ServiceParts {
  readonly environment: ServiceEnvironment;
  readonly log: RequestLogger;
  /** Starts the sending component; its events go to the listener. */
  readonly startHost: (node: RuntimeNode, listener: SessionListener) => SessionHost;
  /** Called when another process runs under this node's id: this one must end. */
  readonly onLost: () => void;
}

/** Starts a node of the service. Resolves when it takes requests; rejects when Redis or an address cannot be had. */
export async function startService({ environment, log, startHost, onLost }: ServiceParts): Promise<Service> {
  const metrics = createMetrics();
  const node = await startNode({
    redisUrl: environment.redisUrl,
    nodeId: environment.nodeId,
    clock: systemClock,
    random,
    log,
    onLost,
    observer: runtimeObserver(metrics),
    limits: { deadLetterAgeMs: environment.requestLogRetentionDays * DAY_MS },
    deadLetterCipher: textCipher(environment.credentialsKeys, 'dead-letters'),
  });
  const { clock } = node;
  await checkCredentialsKeys(node.store, environment.credentialsKeys).catch(async (error: unknown) => {
    await node.stop();
    throw error;
  });
  const topic = linkTopics(sealedLink(node.link, environment.credentialsKeys));
  const requests = topic('requests');
  const actors = await composeActors({
    node,
    redisUrl: environment.redisUrl,
    clock,
    random,
    log,
    startHost: (listener) => startHost(node, listener),
    qrImages: startQrImages(),
    gap: { fromMs: environment.sendGap.minMs, toMs: environment.sendGap.maxMs },
    poolLink: topic('pool'),
    operatorsLink: topic('operators'),
    platformName: environment.platformName,
    messageRetentionMs: environment.messageRetentionDays * DAY_MS,
  });
  exportNode(metrics, node, actors.host);
  exportShops(metrics, actors);
  exportStore(metrics, node);
  const http = await startHttp({
    host: environment.host,
    port: environment.port,
    adminHost: environment.adminHost,
    adminPort: environment.adminPort,
    operatorTokens: environment.operatorTokens,
    trustedProxies: environment.trustedProxies,
    publicUrl: environment.publicUrl,
    setupUrlTemplate: environment.setupUrlTemplate,
    version: packageVersion(),
    tenants: actors.tenants,
    shops: actors.shops,
    tenantEvents: actors.events,
    operators: actors.operators,
    fleet: actors.fleet,
    keys: actors.keys,
    forwarder: forwarderThrough(node, requests),
    store: node.store,
    requestLog: {
      maxEntriesPerTenant: environment.requestLogMaxEntries,
      maxAgeMs: environment.requestLogRetentionDays * DAY_MS,
      maxBytes: environment.requestLogMaxBytes,
    },
    clock,
    random,
    log,
    metrics,
    events: actors.feed,
    health: { ready: () => node.ready() },
    isBusy: () => node.busy(),
  });
  requests.serve((payload) => http.serveForwarded(payload));
  await node.run();
  return { node, actors, http };
}

/**
 * Shortest duration of a stop. A kept connection ends with the next answer on it, and one without a request cannot be
 * told from here: a process that ended at once would cut what is being written to it.
 */
const KEPT_CONNECTIONS_MS = 500;

/**
 * How long a request in hand may delay the hand-over, of the 10 s that a stop may take: forwarding and a commit take
 * 2 s each at most, and a request that has half arrived may never be complete.
 */
const IN_HAND_MS = 4_000;
/** The same for requests that came during the hand-over. */
const LAST_IN_HAND_MS = 1_000;

/**
 * Stops the node: first the front door, so that no request is cut; then the shards, which settle what is in
 * hand while requests on kept connections are answered by the next owners; then the rest.
 */
export async function stopService({ node, actors, http }: Service): Promise<void> {
  const lastCallers = new Promise<void>((resolve) => void node.clock.after(KEPT_CONNECTIONS_MS, resolve));
  actors.endWaits();
  await http.close({ graceMs: IN_HAND_MS });
  await Promise.all([node.handOver(), lastCallers]);
  await http.close({ graceMs: LAST_IN_HAND_MS });
  await node.stop();
  await actors.stop();
}

/** The version of this build, from the package it was made from. */
function packageVersion(): string {
  // The compiled file lies one folder deeper than its source.
  const url = ['../package.json', '../../package.json']
    .map((path) => new URL(path, import.meta.url))
    .find(existsSync);
  if (url === undefined) throw new Error('package.json is missing beside the program');
  return (JSON.parse(readFileSync(url, 'utf8')) as { version: string }).version;
}
