import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import * as v from 'valibot';
import { PERMISSIONS } from '../../actors/tenant/permission.ts';
import { type GuardedProcess, spawnGuarded } from '../../bin/guarded-process.ts';
import { readReadyLine } from '../../bin/ready-line.ts';
import { simulatorControl } from '../../simulator/control-client.ts';
import { type Simulator, startSimulator } from '../../simulator/simulator.ts';
import { type RedisServer, startRedisServer } from '../redis-server.ts';
import { type ApiClient, apiClient } from './api-client.ts';

const root = resolve(import.meta.dirname, '../..');
const readyLine = v.object({ ready: v.literal(true), api: v.string(), admin: v.string() });

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
  /** Where the operators' console is. */
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
export async function startServiceStack(
  options: { readonly gapMs?: string; readonly logLevel?: string } = {},
): Promise<ServiceStack> {
  const dataDir = mkdtempSync(join(tmpdir(), 'stack-'));
  const redis = await startRedisServer({ appendfsync: 'always' });
  const simulator = await startSimulator({ port: 0, dataDir: join(dataDir, 'simulator') });
  const adminToken = randomBytes(24).toString('base64url');
  const credentialsKey = randomBytes(32).toString('base64');
  const mediaCa = join(dataDir, 'media-ca.pem');
  const network = simulatorControl(simulator.url);
  writeFileSync(mediaCa, await network.mediaCa());
  const log: string[] = [];
  const environment = {
    PATH: dirname(process.execPath),
    HOST: '127.0.0.1',
    PORT: '0',
    ADMIN_HOST: '127.0.0.1',
    ADMIN_PORT: '0',
    ADMIN_TOKEN: adminToken,
    REDIS_URL: redis.url,
    DATA_DIR: dataDir,
    CREDENTIALS_KEY: credentialsKey,
    MSGAPP_SOCKET_URL: simulator.chatUrl,
    MSGAPP_NOISE_ROOT_KEY: simulator.noiseRootKey,
    NODE_EXTRA_CA_CERTS: mediaCa,
    SEND_GAP_MS: options.gapMs ?? '50-150',
    NODE_ID: 'node-1',
    LOG_LEVEL: options.logLevel ?? 'info',
  };
  let service: GuardedProcess;
  let addresses: v.InferOutput<typeof readyLine>;
  const start = async (): Promise<void> => {
    service = spawnGuarded({
      name: 'service',
      command: process.execPath,
      args: ['--import', import.meta.resolve('tsx'), 'bin/service.ts'],
      workingDirectory: root,
      environment,
      output: 'read',
      errors: 'read',
    });
    service.stderr?.on('data', (chunk: Buffer) => log.push(chunk.toString()));
    addresses = await readReadyLine(service, { schema: readyLine }).catch((error: unknown) => {
      throw new Error(`the service did not start:\n${log.join('').slice(-2_000)}`, { cause: error });
    });
  };
  await start();
  const admin = apiClient(() => `${addresses.admin}/admin/v1`, adminToken);
  const account = await makeAccount(admin);
  return {
    simulator,
    network,
    redis,
    api: apiClient(() => addresses.api, account.apiKey),
    admin,
    adminToken,
    credentialsKey,
    adminUrl: () => addresses.admin,
    apiUrl: () => addresses.api,
    ...account,
    serviceLog: () => log.join(''),
    async end(signal) {
      service.signal(signal);
      return (await service.ended).code;
    },
    start,
    async stop() {
      service.signal('SIGKILL');
      await service.ended;
      await simulator.close();
      await redis.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function makeAccount(admin: ApiClient): Promise<{ tenantId: string; shopId: string; apiKey: string }> {
  const tenant = await admin.post('/tenants', {
    name: 'Bakeries',
    plan: 'scale',
    owner: { name: 'Ana', notificationNumber: null },
  });
  const tenantId = String(tenant.data.id);
  const shop = await admin.post(`/tenants/${tenantId}/shops`, { name: 'Corner bakery' });
  const key = await admin.post(`/tenants/${tenantId}/keys`, {
    name: 'tests',
    permissions: PERMISSIONS,
    limits: { minute: 6_000, hour: 100_000, day: 1_000_000 },
  });
  return { tenantId, shopId: String(shop.data.id), apiKey: String(key.data.key) };
}
