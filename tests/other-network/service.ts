import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeAccount } from '../e2e/stack/account.ts';
import { type ApiClient, apiClient } from '../e2e/stack/api-client.ts';
import { type ServiceNode, startServiceNode } from '../e2e/stack/service-node.ts';
import { startRedisServer } from '../testbed/redis-server.ts';
import { startParts } from '../testbed/started-parts.ts';
import { until } from '../testbed/waiting.ts';
import type { OtherNetwork } from './other-network.ts';

/** The service with one shop, beside the other project's server. */
export interface OtherService {
  readonly api: ApiClient;
  readonly admin: ApiClient;
  readonly node: ServiceNode;
  readonly tenantId: string;
  readonly shopId: string;
  /** The shop's channel, as its owner sees it. */
  channel(): Promise<Readonly<Record<string, unknown>>>;
  /** Links the shop to the number of the network. */
  link(network: OtherNetwork): Promise<void>;
  untilConnected(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts Redis and one node, as they run in production but for the network's address and key. */
export function startOtherService(network: OtherNetwork): Promise<OtherService> {
  return startParts(async (parts) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'other-service-'));
    parts.add(() => rmSync(dataDir, { recursive: true, force: true }));
    const redis = await startRedisServer({ appendfsync: 'always' });
    parts.add(() => redis.stop());
    const adminToken = randomBytes(24).toString('base64url');
    const node = await startServiceNode({
      ADMIN_TOKEN: adminToken,
      REDIS_URL: redis.url,
      DATA_DIR: dataDir,
      CREDENTIALS_KEY: randomBytes(32).toString('base64'),
      SEND_GAP_MS: '50-150',
      NODE_ID: 'node-1',
      ...network.settings,
    });
    parts.add(() => node.end('SIGKILL'));
    const admin = apiClient(() => `${node.adminUrl()}/admin/v1`, adminToken);
    const account = await makeAccount(admin);
    const api = apiClient(node.apiUrl, account.apiKey);
    const path = `/shops/${account.shopId}/channels/msgapp`;
    const channel = async () => (await api.get(path)).data;
    const untilConnected = async (): Promise<void> => {
      await until('the shop is connected', async () => (await channel()).status === 'connected');
    };
    return {
      api,
      admin,
      node,
      ...account,
      channel,
      untilConnected,
      async link(askedNetwork) {
        await api.post(`${path}/connect`);
        const shown = async () => (await api.get(`${path}/connect`)).data.qr as string | undefined;
        askedNetwork.scan(await until('a QR code is shown', shown));
        await untilConnected();
      },
      stop: () => parts.stop(),
    };
  });
}
