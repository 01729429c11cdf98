/**
 * SIGTERM while callers keep a node waiting: one for a code that the chat network does not send, one with half a
 * request. Neither may prevent the hand-over of its shards, which may take 10 s at most.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import { after, before, beforeEach, test } from 'node:test';
import { openRaw } from '../../http/socket/raw-connection.ts';
import { listening } from '../../testbed/listening.ts';
import { type RedisServer, startRedisServer } from '../../testbed/redis-server.ts';
import { until } from '../../testbed/waiting.ts';
import { type Account, makeAccount } from '../stack/account.ts';
import { apiClient } from '../stack/api-client.ts';
import { type ServiceNode, startServiceNode } from '../stack/service-node.ts';

/** Accepts connections and never answers. */
const silence = createServer((socket) => void socket.on('error', () => undefined));

let redis: RedisServer;
let node: ServiceNode;
let account: Account;
const adminToken = 'operators-only';
const admin = apiClient(() => `${node.adminUrl()}/admin/v1`, adminToken);
before(async () => {
  redis = await startRedisServer();
  const port = await listening(silence);
  node = await startServiceNode({
    ADMIN_TOKEN: adminToken,
    REDIS_URL: redis.url,
    CREDENTIALS_KEY: randomBytes(32).toString('base64'),
    MSGAPP_SOCKET_URL: `ws://127.0.0.1:${port}/ws/chat`,
    NODE_ID: 'node-1',
  });
  account = await makeAccount(admin);
});
beforeEach(async () => {
  if (!node.runs()) await node.start();
});
after(async () => {
  await node.end('SIGKILL');
  silence.close();
  await redis.stop();
});

/** Ends the node like a deployment. Exit code 0 means that its shards are handed over. */
async function stopInTime(): Promise<void> {
  const startedMs = performance.now();
  assert.equal(await node.end('SIGTERM'), 0);
  const tookMs = performance.now() - startedMs;
  assert.ok(tookMs < 10_000, `it took ${Math.round(tookMs)} ms`);
}

test('a caller that waits for a code gets the progress, and the node hands over', async () => {
  const { tenantId, shopId } = account;
  const askedPromise = apiClient(node.apiUrl, account.apiKey).post(
    `/shops/${shopId}/channels/msgapp/connect`,
    {},
  );
  await until('the session is being opened', async () => {
    const { data } = await admin.get(`/actors/${tenantId}/${shopId}`);
    const { channel } = data.details as { readonly channel: { readonly state: string } };
    return channel.state === 'starting';
  });
  await stopInTime();
  const { status, data } = await askedPromise;
  assert.deepEqual([status, data.status], [200, 'starting']);
});

test('a node waits for an incomplete request only as long as the hand-over allows', async () => {
  const connection = await openRaw(node.apiUrl());
  const head = `POST /api/v1/shops HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${account.apiKey}\r\n`;
  connection.write(`${head}Content-Type: application/json\r\nContent-Length: 40\r\n\r\n{"name":`);
  assert.equal((await apiClient(node.apiUrl, account.apiKey).get('/me')).status, 200);
  await stopInTime();
  connection.destroy();
});
