import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Simulator, type SimulatorOptions, startSimulator } from '../../../simulator/simulator.ts';
import { type RedisServer, startRedisServer } from '../../testbed/redis-server.ts';
import { simulatorControl } from '../../testbed/simulator-control.ts';
import { type StartedParts, startParts } from '../../testbed/started-parts.ts';
import { makeAccount } from './account.ts';
import { type ApiClient, apiClient } from './api-client.ts';
import { startServiceNode } from './service-node.ts';

/** Redis, the chat network and one node of the service, each where it runs in production: in processes of their own. */
export interface ServiceStack {
  readonly simulator: Simulator;
  readonly network: ReturnType<typeof simulatorControl>;
  readonly redis: RedisServer;
  /** The tenant's API with the key of its demo account. Follows the service through restarts. */
  readonly api: ApiClient;
  readonly admin: ApiClient;
  readonly adminToken: string;
  readonly credentialsKey: string;
  /** The address of the operators' console. */
  adminUrl(): string;
  /** Base address of the tenants' API. */
  apiUrl(): string;
  readonly tenantId: string;
  readonly shopId: string;
  readonly apiKey: string;
  /** Everything the service wrote to standard error so far. */
  serviceLog(): string;
  /** Ends the service so and waits until it is gone; its exit code. */
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null>;
  /** Starts the service again on the same store. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the whole line with a tenant, a shop and a key. `gapMs`: the gap between sends. */
export function startServiceStack(options: StackOptions = {}): Promise<ServiceStack> {
  return startParts((parts) => startStack(options, parts));
}

export interface StackOptions {
  readonly gapMs?: string;
  readonly logLevel?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** The service knows the network by the name `localhost`, which somebody has to look up. */
  readonly isNamed?: boolean;
  readonly simulation?: Partial<SimulatorOptions>;
}

async function startStack(options: StackOptions, parts: StartedParts): Promise<ServiceStack> {
  const dataDir = mkdtempSync(join(tmpdir(), 'stack-'));
  parts.add(() => rmSync(dataDir, { recursive: true, force: true }));
  const redis = await startRedisServer({ appendfsync: 'always' });
  parts.add(() => redis.stop());
  const simulator = await startSimulator({
    port: 0,
    dataDir: join(dataDir, 'simulator'),
    ...options.simulation,
  });
  parts.add(() => simulator.close());
  const adminToken = randomBytes(24).toString('base64url');
  const credentialsKey = randomBytes(32).toString('base64');
  const mediaCa = join(dataDir, 'media-ca.pem');
  const network = simulatorControl(simulator.url);
  writeFileSync(mediaCa, await network.mediaCa());
  const service = await startServiceNode({
    ADMIN_TOKEN: adminToken,
    REDIS_URL: redis.url,
    DATA_DIR: dataDir,
    CREDENTIALS_KEY: credentialsKey,
    MSGAPP_SOCKET_URL: options.isNamed
      ? simulator.chatUrl.replace('127.0.0.1', 'localhost')
      : simulator.chatUrl,
    MSGAPP_NOISE_ROOT_KEY: simulator.noiseRootKey,
    NODE_EXTRA_CA_CERTS: mediaCa,
    SEND_GAP_MS: options.gapMs ?? '50-150',
    NODE_ID: 'node-1',
    LOG_LEVEL: options.logLevel ?? 'info',
    ...options.environment,
  });
  parts.add(() => service.end('SIGKILL'));
  const admin = apiClient(() => `${service.adminUrl()}/admin/v1`, adminToken);
  const account = await makeAccount(admin);
  return {
    simulator,
    network,
    redis,
    api: apiClient(service.apiUrl, account.apiKey),
    admin,
    adminToken,
    credentialsKey,
    adminUrl: service.adminUrl,
    apiUrl: service.apiUrl,
    ...account,
    serviceLog: service.log,
    end: service.end,
    start: service.start,
    stop: () => parts.stop(),
  };
}
