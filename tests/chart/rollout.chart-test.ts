/**
 * The Deployment of the chart as processes. Its environment, secrets in files, probes and grace period start three
 * nodes on one Redis. Its strategy replaces them one after the other, under callers that retry with the same key.
 */

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startSimulator } from '../../simulator/simulator.ts';
import { makeAccount } from '../e2e/stack/account.ts';
import { apiClient } from '../e2e/stack/api-client.ts';
import { retryingClient } from '../e2e/stack/retrying-client.ts';
import { connectShop, sendText, untilStatus } from '../e2e/stack/shop-steps.ts';
import { startRedisServer } from '../testbed/redis-server.ts';
import { simulatorControl } from '../testbed/simulator-control.ts';
import { startParts } from '../testbed/started-parts.ts';
import { renderChart, withoutHelm } from './chart-tools.ts';
import { type Pod, podsOf } from './pods.ts';

const TENANTS = 6;
/**
 * The most sends of a shop: one in each step of a pod's replacement. The first day of a number allows ten in an hour.
 */
const MOST_SENDS = 9;

/** Starts what the pods need, and reads the Deployment that Helm makes for it. */
const startCluster = () =>
  startParts(async (parts) => {
    const folder = mkdtempSync(join(tmpdir(), 'rollout-'));
    parts.add(() => rmSync(folder, { recursive: true, force: true }));
    const redis = await startRedisServer({ appendfsync: 'always' });
    parts.add(() => redis.stop());
    const simulator = await startSimulator({ port: 0, dataDir: folder });
    parts.add(() => simulator.close());
    const settings = {
      MSGAPP_SOCKET_URL: simulator.chatUrl,
      MSGAPP_NOISE_ROOT_KEY: simulator.noiseRootKey,
      SEND_GAP_MS: '20-100',
      SESSION_WORKERS: '1',
    };
    const manifests = await renderChart([
      ...Object.entries(settings).flatMap(([name, value]) => ['--set-string', `settings.${name}=${value}`]),
      ...['--set', 'replicas=3', '--set', 'shutdownDelaySeconds=1'],
    ]);
    const deployment = manifests.find(({ kind }) => kind === 'Deployment');
    assert.ok(deployment);
    const adminToken = randomBytes(24).toString('hex');
    const pods = podsOf(deployment, {
      folder,
      // The network is only of this machine and process, because the ports are those of the chart.
      network: `127.${((process.pid >> 8) % 200) + 1}.${process.pid % 256}`,
      secrets: {
        ADMIN_TOKEN: adminToken,
        METRICS_TOKEN: randomBytes(24).toString('hex'),
        CREDENTIALS_KEY: randomBytes(32).toString('base64'),
        REDIS_URL: redis.url,
      },
    });
    parts.add(() => pods.stop());
    return { pods, adminToken, network: simulatorControl(simulator.url), stop: () => parts.stop() };
  });

test('a rollout of the chart under traffic loses nothing and sends nothing twice', {
  skip: withoutHelm,
}, async (context) => {
  const { pods, adminToken, network, stop } = await startCluster();
  try {
    let livePods: Pod[] = [];
    const start = async (name: string): Promise<void> => {
      livePods.push(await pods.start(name));
    };
    await Promise.all(
      Array.from({ length: pods.replicas }, (_, index) => start(`demo-messaging-5d9c-a${index}`)),
    );
    const counters = { requests: 0, retries: 0 };
    // The pods of a Service. If no pod is ready, callers reach none.
    const ready = (): Pod[] => livePods.filter((pod) => pod.isReady());
    const admin = retryingClient({
      addresses: () => ready().map(({ adminUrl }) => adminUrl),
      token: adminToken,
      counters,
    });
    const senders = await Promise.all(
      Array.from({ length: TENANTS }, async (_, index) => {
        const { tenantId, shopId, apiKey } = await makeAccount(admin, `Tenant ${index}`);
        const customers = Array.from(
          { length: MOST_SENDS },
          (_each, n) => `+3360${index}${String(n).padStart(6, '0')}`,
        );
        await admin.post(`/tenants/${tenantId}/customers`, { phones: customers });
        const api = retryingClient({
          addresses: () => ready().map(({ apiUrl }) => apiUrl),
          token: apiKey,
          counters,
        });
        await connectShop({ api, network }, shopId, `+3361${index}000000`);
        return { api, shopId, customers };
      }),
    );
    counters.retries = 0;

    let isOver = false;
    /** How many messages each shop may have sent by now. */
    let due = 0;
    const sending = Promise.all(
      senders.map(async ({ api, shopId, customers }) => {
        const accepted: { readonly id: string; readonly to: string }[] = [];
        while (!isOver || accepted.length < due) {
          assert.equal((await api.get('/me')).status, 200);
          const to = customers[accepted.length];
          if (to === undefined || accepted.length >= due) continue;
          const answer = await sendText({ api }, shopId, { to, text: to.slice(-4), idempotencyKey: to });
          assert.ok(answer.status === 202 || answer.status === 200, JSON.stringify(answer.error));
          accepted.push({ id: String(answer.data.id), to });
        }
        return { api, accepted };
      }),
    );
    sending.catch(() => undefined);
    for (const oldPod of [...livePods]) {
      due += 1;
      await start(oldPod.name.replace('5d9c', '7f1e'));
      due += 1;
      const ended = oldPod.end();
      await oldPod.notReady;
      due += 1;
      assert.equal(await ended, 0, `${oldPod.name} ended within its grace`);
      livePods = livePods.filter((pod) => pod !== oldPod);
    }
    isOver = true;
    let messages = 0;
    for (const { api, accepted } of await sending) {
      assert.equal(accepted.length, MOST_SENDS);
      messages += accepted.length;
      for (const { id, to } of accepted) {
        await untilStatus({ api }, id, 'sent');
        assert.equal((await network.inbox(to)).items.length, 1, `${to} has its message once`);
      }
    }
    const [first] = livePods;
    assert.ok(first);
    const { data } = await apiClient(() => first.adminUrl, adminToken).get('/nodes');
    const names = (data.items as readonly { readonly nodeId: string }[]).map(({ nodeId }) => nodeId).sort();
    assert.deepEqual(names, ['demo-messaging-7f1e-a0', 'demo-messaging-7f1e-a1', 'demo-messaging-7f1e-a2']);
    context.diagnostic(`${messages} messages, ${counters.retries} calls asked again`);
  } finally {
    await stop();
  }
});
