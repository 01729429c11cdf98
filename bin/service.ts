import { existsSync, readFileSync } from 'node:fs';
import { startBaileysHost } from '../actors/session/baileys-host.ts';
import { startQrImages } from '../actors/session/qr-image.ts';
import type { SessionHost, SessionListener } from '../actors/session/session-host.ts';
import { type RunningActors, startActors } from '../actors/start-actors.ts';
import { createLogger } from '../http/log.ts';
import { createMetrics } from '../http/metrics.ts';
import { type RunningHttp, startHttp } from '../http/start-http.ts';
import { systemClock as clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import { type RuntimeNode, startNode } from '../runtime/node.ts';
import { systemRandom as random } from '../runtime/random.ts';
import { EnvironmentError, type ServiceEnvironment, serviceEnvironment } from './environment.ts';
import { exportNode, runtimeObserver } from './node-metrics.ts';
import { hopThrough } from './request-hop.ts';

const REAL_NETWORK_URL = 'wss://web.whatsapp.com/ws/chat';
const DAY_MS = 24 * 3_600_000;

/** One node of the service, from the store up to the front door. */
interface Service {
  readonly node: RuntimeNode;
  readonly actors: RunningActors;
  readonly http: RunningHttp;
}

async function start(environment: ServiceEnvironment, log: Logger, onLost: () => void): Promise<Service> {
  const metrics = createMetrics();
  const node = await startNode({
    redisUrl: environment.redisUrl,
    nodeId: environment.nodeId,
    clock,
    random,
    log,
    onLost,
    observer: runtimeObserver(metrics),
  });
  const actors = await startActors({
    node,
    redisUrl: environment.redisUrl,
    clock,
    random,
    log,
    startHost: (listener) => startHost({ environment, node, log, listener }),
    qrImages: startQrImages(),
    gap: { fromMs: environment.sendGap.minMs, toMs: environment.sendGap.maxMs },
    messageRetentionMs: environment.messageRetentionDays * DAY_MS,
  });
  exportNode(metrics, node, () => actors.host.available());
  const http = await startHttp({
    host: environment.host,
    port: environment.port,
    adminHost: environment.adminHost,
    adminPort: environment.adminPort,
    adminToken: environment.adminToken,
    trustedProxies: environment.trustedProxies,
    publicUrl: environment.publicUrl,
    setupUrlTemplate: environment.setupUrlTemplate,
    version: packageVersion(),
    tenants: actors.tenants,
    shops: actors.shops,
    operators: actors.operators,
    fleet: actors.fleet,
    keys: actors.keys,
    hop: hopThrough(node),
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
  });
  node.link.serve((payload) => http.serveForwarded(payload));
  await node.run();
  return { node, actors, http };
}

function startHost(parts: {
  readonly environment: ServiceEnvironment;
  readonly node: RuntimeNode;
  readonly log: Logger;
  readonly listener: SessionListener;
}): SessionHost {
  const { environment, node, log, listener } = parts;
  const simulated = environment.noiseRootKey !== undefined;
  const socketUrl = environment.chatNetworkUrl ?? REAL_NETWORK_URL;
  if (simulated) log.warn({ socketUrl }, 'the chat network is simulated: no message leaves this machine');
  return startBaileysHost({
    store: node.store,
    clock,
    random,
    log,
    listener,
    credentialsKeys: environment.credentialsKeys,
    socketUrl,
    noiseRootKey: environment.noiseRootKey,
    allowLoopbackMedia: simulated,
  });
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

/** First the front door, so that no request is cut; then the shards, which settles what is in hand; then the rest. */
async function stop({ node, actors, http }: Service): Promise<void> {
  await http.close();
  await node.stop();
  await actors.stop();
}

async function main(): Promise<void> {
  const environment = serviceEnvironment();
  const log = createLogger({ level: environment.logLevel });
  let ending = false;
  const end = (service: Service | undefined, exitCode: number): void => {
    if (ending) return;
    ending = true;
    // A stop that hangs must not keep the process: whoever asked for it waits 10 s (DESIGN: graceful stop).
    clock.after(9_500, () => process.exit(exitCode || 1));
    Promise.resolve(service && stop(service)).then(
      () => process.exit(exitCode),
      (error: unknown) => {
        log.error({ err: error }, 'the stop was not clean');
        process.exit(1);
      },
    );
  };
  let running: Service | undefined;
  const service = await start(environment, log, () => {
    log.error({ nodeId: environment.nodeId }, 'another process runs under this node id: this one ends');
    end(running, 1);
  });
  running = service;
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, () => end(service, 0));
  }
  const { apiUrl, adminUrl } = service.http;
  process.stdout.write(`${JSON.stringify({ ready: true, api: apiUrl, admin: adminUrl })}\n`);
}

main().catch((error: unknown) => {
  const message = error instanceof Error ? error.message : String(error);
  console.error(error instanceof EnvironmentError ? message : `The service could not start: ${message}`);
  process.exit(1);
});
