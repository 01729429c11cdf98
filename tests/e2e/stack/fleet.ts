import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MINUTE_MS } from '../../../runtime/durations.ts';
import { startSimulator } from '../../../simulator/simulator.ts';
import { type RedisServer, startRedisServer } from '../../testbed/redis-server.ts';
import { type SimulatorControl, simulatorControl } from '../../testbed/simulator-control.ts';
import { type StartedParts, startParts } from '../../testbed/started-parts.ts';
import { until } from '../../testbed/waiting.ts';
import { type ApiAnswer, type ApiClient, apiClient } from './api-client.ts';
import { startRedisCluster } from './redis-cluster.ts';
import { type RedisLink, redisLink } from './redis-link.ts';
import { type RedisPair, startRedisPair } from './redis-pair.ts';
import { type Counters, retryingClient } from './retrying-client.ts';
import { type ServiceNode, startServiceNode } from './service-node.ts';

/** One node of a fleet. */
export interface FleetNode extends ServiceNode {
  /** Its line to Redis; nothing to hold on a cluster. */
  readonly link: RedisLink | undefined;
  /** The operators' API of this very node. */
  readonly admin: ApiClient;
  /** The tenants' API of this very node. */
  api(apiKey: string): ApiClient;
  /** One of its figures at `/metrics`. */
  metric(name: string): Promise<number>;
}

/** Several nodes on one Redis or one Redis Cluster, and the chat network. */
export interface Fleet {
  readonly nodes: readonly FleetNode[];
  readonly network: SimulatorControl;
  /** The servers that hold the data: one, or three masters. */
  readonly servers: readonly RedisServer[];
  /** The master and its replica, of a fleet that has one. */
  readonly pair: RedisPair | undefined;
  readonly adminToken: string;
  /** The key of all nodes at their first start. */
  readonly credentialsKey: string;
  /** The sums of the retrying clients' counters. */
  readonly counters: Counters;
  /** The tenants' API for a client that asks one node after the other. */
  api(apiKey: string): ApiClient;
  /** The operators' API for such a client. */
  readonly admin: ApiClient;
  /** Shards by node id, as a node that runs sees it. */
  shares(): Promise<ReadonlyMap<string, number>>;
  /** Waits until the running nodes have all shards among them, none more than one above another. */
  spread(withinMs?: number): Promise<void>;
  /** Starts one more node. */
  join(): Promise<FleetNode>;
  stop(): Promise<void>;
}

/** Starts a fleet and waits until its shards are spread. `gapMs`: the gap between two sends of a shop. */
export function startFleet(options: FleetOptions): Promise<Fleet> {
  return startParts((parts) => startNodes(options, parts));
}

export interface FleetOptions {
  readonly nodes: number;
  readonly redis?: 'single' | 'cluster' | 'pair';
  /** The directory of a single Redis' files. */
  readonly redisDirectory?: string;
  readonly gapMs?: string;
  /** How long its clients retry; default: 40 s. */
  readonly patienceMs?: number;
  /** Another entry point than `service/service.ts`. */
  readonly program?: string;
  /** Settings of every node beside its own. */
  readonly environment?: Readonly<Record<string, string>>;
}

async function startNodes(options: FleetOptions, parts: StartedParts): Promise<Fleet> {
  const dataDir = mkdtempSync(join(tmpdir(), 'fleet-'));
  parts.add(() => rmSync(dataDir, { recursive: true, force: true }));
  const store = await startStore(options.redis, options.redisDirectory);
  parts.add(() => store.stop());
  const simulator = await startSimulator({ port: 0, dataDir: join(dataDir, 'simulator') });
  parts.add(() => simulator.close());
  const network = simulatorControl(simulator.url);
  const mediaCa = join(dataDir, 'media-ca.pem');
  writeFileSync(mediaCa, await network.mediaCa());
  const adminToken = randomBytes(24).toString('base64url');
  const credentialsKey = randomBytes(32).toString('base64');
  const { patienceMs } = options;
  const nodes: FleetNode[] = [];
  const counters: Counters = { requests: 0, retries: 0 };
  const startOne = async (nodeId: string): Promise<FleetNode> => {
    const link = store.socketPath === undefined ? undefined : await redisLink(store.socketPath);
    parts.add(() => link?.close());
    const node = await startServiceNode(
      {
        ADMIN_TOKEN: adminToken,
        REDIS_URL: link?.url ?? store.url,
        DATA_DIR: dataDir,
        CREDENTIALS_KEY: credentialsKey,
        MSGAPP_SOCKET_URL: simulator.chatUrl,
        MSGAPP_NOISE_ROOT_KEY: simulator.noiseRootKey,
        NODE_EXTRA_CA_CERTS: mediaCa,
        SEND_GAP_MS: options.gapMs ?? '50-150',
        NODE_ID: nodeId,
        ...options.environment,
      },
      options.program,
    );
    parts.add(() => node.end('SIGKILL'));
    return fleetNode(node, { link, adminToken });
  };
  const shares = async (): Promise<ReadonlyMap<string, number>> => {
    const runningNode = nodes.find((node) => node.runs());
    const { data } = (await runningNode?.admin.get('/nodes')) ?? { data: {} as ApiAnswer['data'] };
    const items = (data.items ?? []) as readonly { nodeId: string; shards: number }[];
    return new Map(items.map(({ nodeId, shards }) => [nodeId, shards]));
  };
  const fleet: Fleet = {
    nodes,
    network,
    servers: store.servers,
    pair: store.pair,
    adminToken,
    credentialsKey,
    counters,
    api: (token) =>
      retryingClient({ addresses: () => nodes.map(({ apiUrl }) => apiUrl()), token, counters, patienceMs }),
    admin: retryingClient({
      addresses: () => nodes.map(({ adminUrl }) => `${adminUrl()}/admin/v1`),
      token: adminToken,
      counters: { requests: 0, retries: 0 },
      patienceMs,
    }),
    shares,
    async spread(withinMs = MINUTE_MS) {
      const running = nodes.filter((node) => node.runs()).map(({ nodeId }) => nodeId);
      await until(
        `the shards are spread over ${running.join(', ')}`,
        async () => isSpread(running, await shares()),
        { withinMs },
      );
    },
    async join() {
      const node = await startOne(`node-${nodes.length + 1}`);
      nodes.push(node);
      return node;
    },
    stop: () => parts.stop(),
  };
  const starting = Array.from({ length: options.nodes }, (_, index) => startOne(`node-${index + 1}`));
  // If one does not start the others still run, and must be stopped.
  await Promise.allSettled(starting);
  nodes.push(...(await Promise.all(starting)));
  await fleet.spread();
  return fleet;
}

interface FleetStore {
  readonly url: string;
  /** The socket of a proxy to it; `undefined`: a cluster has more than one connection. */
  readonly socketPath?: string;
  readonly servers: readonly RedisServer[];
  readonly pair?: RedisPair;
  stop(): Promise<void>;
}

async function startStore(
  kind: 'single' | 'cluster' | 'pair' = 'single',
  directory?: string,
): Promise<FleetStore> {
  if (kind === 'cluster') {
    const { url, masters, stop } = await startRedisCluster();
    return { url, servers: masters, stop };
  }
  if (kind === 'pair') {
    const pair = await startRedisPair();
    const { url, socketPath } = pair.master();
    return { url, socketPath, servers: pair.servers, pair, stop: pair.stop };
  }
  const server = await startRedisServer({
    appendfsync: 'always',
    ...(directory === undefined ? {} : { directory }),
  });
  return { url: server.url, socketPath: server.socketPath, servers: [server], stop: server.stop };
}

function fleetNode(
  node: ServiceNode,
  { link, adminToken }: { readonly link: RedisLink | undefined; readonly adminToken: string },
): FleetNode {
  return {
    ...node,
    link,
    admin: apiClient(() => `${node.adminUrl()}/admin/v1`, adminToken),
    api: (apiKey) => apiClient(node.apiUrl, apiKey),
    async metric(name) {
      const response = await fetch(`${node.adminUrl()}/metrics`, {
        headers: { authorization: `Bearer ${adminToken}` },
      });
      const line = (await response.text()).split('\n').find((each) => each.startsWith(`${name} `));
      return Number(line?.split(' ')[1]);
    },
  };
}

function isSpread(running: readonly string[], shares: ReadonlyMap<string, number>): boolean {
  const counts = running.map((nodeId) => shares.get(nodeId) ?? 0);
  const total = counts.reduce((sum, count) => sum + count, 0);
  return total === 128 && Math.max(...counts) - Math.min(...counts) <= 1;
}
