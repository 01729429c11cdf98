import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SessionAddress } from '../../../actors/sessions/session-host.ts';
import type { ShopOperations } from '../../../actors/shops/shop-operations.ts';
import { shardOf } from '../../../runtime/address.ts';
import { systemClock as clock } from '../../../runtime/clock.ts';
import { startService, stopService } from '../../../service/compose-service.ts';
import { serviceEnvironment } from '../../../service/environment.ts';
import { makeLogger } from '../../../service/process-log.ts';
import { closeKeptConnections } from '../../testbed/kept-connections.ts';
import type { MemoryBehaviour } from '../../testbed/memory-network/memory-behaviour.ts';
import { MemorySessionHost } from '../../testbed/memory-network/memory-session-host.ts';
import { type RedisServer, startRedisServer } from '../../testbed/redis-server.ts';
import { type StartedParts, startParts } from '../../testbed/started-parts.ts';
import { type Account, makeAccount } from './account.ts';
import { type ApiClient, apiClient } from './api-client.ts';

/** One node of the service in this process, on real sockets and a real Redis, with the chat network in memory. */
export interface MemoryStack extends Account {
  readonly api: ApiClient;
  readonly admin: ApiClient;
  /** The chat network, driven by the test. It knows how long ago a shop was paired. */
  readonly network: MemorySessionHost;
  readonly redis: RedisServer;
  readonly adminToken: string;
  /** The operations of shops that the API uses. */
  readonly shops: ShopOperations;
  /** Base addresses of the tenants' API and of the operators'. */
  apiUrl(): string;
  adminUrl(): string;
  /** The session of a shop of the account's tenant. */
  session(shopId: string): SessionAddress;
  stop(): Promise<void>;
}

/**
 * Starts the node with a tenant, a shop and a key. `behaviour`: how the network in memory behaves at first. `prepare`:
 * fills the store before.
 */
export function startMemoryStack(
  behaviour: Partial<MemoryBehaviour>,
  prepare: (redisUrl: string) => Promise<void> = async () => undefined,
): Promise<MemoryStack> {
  return startParts((parts) => startStack(behaviour, prepare, parts));
}

async function startStack(
  behaviour: Partial<MemoryBehaviour>,
  prepare: (redisUrl: string) => Promise<void>,
  parts: StartedParts,
): Promise<MemoryStack> {
  const dataDir = mkdtempSync(join(tmpdir(), 'memory-stack-'));
  parts.add(() => rmSync(dataDir, { recursive: true, force: true }));
  const redis = await startRedisServer();
  parts.add(() => redis.stop());
  await prepare(redis.url);
  const adminToken = randomBytes(24).toString('base64url');
  const environment = serviceEnvironment({
    ADMIN_TOKEN: adminToken,
    REDIS_URL: redis.url,
    DATA_DIR: dataDir,
    CREDENTIALS_KEY: randomBytes(32).toString('base64'),
    // No connection is made there; it lets the gap between sends be short.
    MSGAPP_SOCKET_URL: 'ws://127.0.0.1:9/ws/chat',
    SEND_GAP_MS: '1-2',
    PORT: '0',
    ADMIN_PORT: '0',
    NODE_ID: 'memory-1',
    LOG_LEVEL: 'fatal',
  });
  const made: { network?: MemorySessionHost } = {};
  const service = await startService({
    environment,
    log: makeLogger({ level: environment.logLevel }),
    startHost: (_node, listener) => {
      made.network = new MemorySessionHost({ clock, listener, behaviour });
      return made.network;
    },
    onLost: () => undefined,
  });
  parts.add(() => stopService(service));
  parts.add(closeKeptConnections);
  const { network } = made;
  if (network === undefined) throw new Error('the service started without its sending component');
  const admin = apiClient(() => `${service.http.adminUrl}/admin/v1`, adminToken);
  const account = await makeAccount(admin);
  return {
    ...account,
    api: apiClient(() => service.http.apiUrl, account.apiKey),
    admin,
    network,
    redis,
    adminToken,
    shops: service.actors.shops,
    apiUrl: () => service.http.apiUrl,
    adminUrl: () => `${service.http.adminUrl}/admin/v1`,
    session: (shopId) => ({ shard: shardOf(account.tenantId), tenantId: account.tenantId, shopId }),
    stop: () => parts.stop(),
  };
}
