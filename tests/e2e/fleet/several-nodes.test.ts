/**
 * Three nodes on one Redis, in separate processes. Any node answers any call. Shards are spread evenly, also after a
 * node joins. A revoked key opens nothing on any node once the call has returned.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../testbed/waiting.ts';
import { makeAccount } from '../stack/account.ts';
import { erase } from '../stack/erase.ts';
import { openEvents } from '../stack/event-reader.ts';
import type { FleetNode } from '../stack/fleet.ts';
import { sharedFleet } from '../stack/shared-fleet.ts';
import { connectShop, sendText, untilStatus } from '../stack/shop-steps.ts';

const TENANTS = 6;

const fleet = sharedFleet({ nodes: 3 });

test('any node answers any request, forwarded once at most', async () => {
  const accounts = await Promise.all(
    Array.from({ length: TENANTS }, (_, index) => makeAccount(fleet.admin, `Tenant ${index}`)),
  );
  const before = await forwardedRequests();
  let requests = 0;
  for (const { apiKey, shopId } of accounts) {
    for (const node of fleet.nodes) {
      const api = node.api(apiKey);
      assert.equal((await api.get('/me')).status, 200);
      assert.equal((await api.get(`/shops/${shopId}`)).data.id, shopId);
      assert.equal((await api.post('/shops', { name: `From ${node.nodeId}` })).status, 201);
      requests += 3;
    }
    const listedAnswers = await Promise.all(
      fleet.nodes.map((node) => node.api(apiKey).get('/shops?limit=100')),
    );
    requests += listedAnswers.length;
    for (const { data } of listedAnswers) assert.deepEqual(data, listedAnswers[0]?.data);
  }
  const made = (await forwardedRequests()) - before;
  // One node of three owns a tenant, so two requests of three are forwarded.
  assert.equal(made, (requests * 2) / 3);
});

test('a shop is connected, sends and is read through whichever node', async () => {
  const { apiKey, shopId } = await makeAccount(fleet.admin);
  const api = fleet.api(apiKey);
  await connectShop({ api, network: fleet.network }, shopId, '+33650000001');
  const to = '+33660000001';
  for (const [index, node] of fleet.nodes.entries()) {
    const text = `from ${node.nodeId}`;
    const answer = await sendText({ api: node.api(apiKey) }, shopId, {
      to: `${to}${index}`,
      text,
      idempotencyKey: text,
    });
    assert.equal(answer.status, 202, JSON.stringify(answer.error));
    // Other nodes know the call by its idempotency key.
    for (const otherNode of fleet.nodes) {
      const replay = await sendText({ api: otherNode.api(apiKey) }, shopId, {
        to: `${to}${index}`,
        text,
        idempotencyKey: text,
      });
      assert.equal(replay.status, 200);
      assert.equal(replay.data.id, answer.data.id);
    }
    await untilStatus({ api }, String(answer.data.id), 'sent');
    const { items } = await fleet.network.inbox(`${to}${index}`);
    assert.deepEqual(
      items.map((item) => item.text),
      [text],
    );
  }
});

test('a key revoked or rotated through one node opens nothing on any node once the call has returned', async () => {
  const { tenantId } = await makeAccount(fleet.admin);
  for (const revoker of fleet.nodes) {
    const createdAnswer = await revoker.admin.post(`/tenants/${tenantId}/keys`, {
      name: 'k',
      permissions: [],
    });
    const key = String(createdAnswer.data.key);
    assert.deepEqual(await statusesOfMe(key), [200, 200, 200]);
    // Callers that never stop: none of those that begin after the answer may get through.
    const revokedAnswer = await revoker.admin.delete(`/tenants/${tenantId}/keys/${createdAnswer.data.id}`);
    const after = await Promise.all(
      Array.from({ length: 10 }, () => fleet.nodes.map((node) => node.api(key).get('/me'))).flat(),
    );
    assert.equal(revokedAnswer.status, 200);
    for (const { status, error } of after) assert.deepEqual([status, error?.code], [401, 'API_KEY_REVOKED']);
  }
});

test('a tenant made, changed or erased through one node is so in the list of any other at once', async () => {
  for (const [index, node] of fleet.nodes.entries()) {
    const otherNode = fleet.nodes[(index + 1) % fleet.nodes.length] ?? node;
    const listed = async () => {
      const { data } = await otherNode.admin.get('/tenants?q=Listed');
      return (data.items as { name: string }[]).map(({ name }) => name);
    };
    for (let round = 0; round < 5; round += 1) {
      const { data } = await node.admin.post('/tenants', { name: 'Listed' });
      assert.deepEqual(await listed(), ['Listed']);
      await node.admin.patch(`/tenants/${data.id}`, { name: 'Listed anew' });
      assert.deepEqual(await listed(), ['Listed anew']);
      await erase(node.admin, `/tenants/${data.id}`);
      assert.deepEqual(await listed(), []);
    }
  }
});

test('an erased tenant does not come back, whichever nodes its last calls used', async () => {
  const bystander = await makeAccount(fleet.admin, 'Bystander');
  for (const eraser of fleet.nodes) {
    const { tenantId, apiKey } = await makeAccount(fleet.admin, 'Erased');
    const callAll = async () => {
      const answers = await Promise.all(fleet.nodes.map((node) => node.api(apiKey).get('/me')));
      return answers.map(({ status }) => status);
    };
    assert.deepEqual(await callAll(), [200, 200, 200]);
    await erase(eraser.admin, `/tenants/${tenantId}`);
    assert.deepEqual(await callAll(), [401, 401, 401]);
    // Each node writes its log in the order in which it answered: what it has of this call comes after all of those.
    const sinceMs = Date.now() - 1;
    for (const node of fleet.nodes) await node.api(bystander.apiKey).get('/me');
    const after = `tenant=${bystander.tenantId}&after=${new Date(sinceMs).toISOString()}`;
    await until('all nodes have written their logs', async () => {
      const { data } = await eraser.admin.get(`/requests?${after}`);
      return (data.items as unknown[]).length === fleet.nodes.length;
    });
    await until('nothing of the erased tenant is in the log', async () => {
      const { data } = await eraser.admin.get(`/requests?tenant=${tenantId}`);
      return (data.items as unknown[]).length === 0;
    });
  }
});

test('limits of a key are counted once, whichever nodes its calls go through', async () => {
  const { tenantId } = await makeAccount(fleet.admin);
  const createdAnswer = await fleet.admin.post(`/tenants/${tenantId}/keys`, {
    name: 'k',
    permissions: [],
    limits: { minute: 10, hour: 100, day: 1_000 },
  });
  const key = String(createdAnswer.data.key);
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => fleet.nodes.map((node) => node.api(key).get('/me'))).flat(),
  );
  assert.equal(answers.filter(({ status }) => status === 200).length, 10);
  assert.equal(answers.filter(({ status }) => status === 429).length, 20);
});

test('a watcher at one node gets the events of all nodes, and the names of silent ones', async (context) => {
  const [watched, ...otherNodes] = fleet.nodes;
  assert.ok(watched !== undefined);
  const accounts = await Promise.all(
    Array.from({ length: TENANTS }, (_, index) => makeAccount(fleet.admin, `Watched ${index}`)),
  );
  const events = await openEvents(watched.adminUrl(), fleet.adminToken);
  context.after(() => {
    events.close();
    for (const node of fleet.nodes) node.signal('SIGCONT');
  });
  for (const { tenantId, shopId } of accounts)
    await fleet.admin.post(`/actors/${tenantId}/${shopId}/pause`, {});
  // Six tenants on three nodes: some of them live elsewhere.
  for (const { shopId } of accounts) await events.until('pacing', ({ data }) => data.shopId === shopId);
  const [otherNode] = otherNodes;
  otherNode?.signal('SIGSTOP');
  await events.until('node', ({ data }) => data.nodeId === otherNode?.nodeId && data.standing === 'silent');
  otherNode?.signal('SIGCONT');
  await events.until('node', ({ data }) => data.nodeId === otherNode?.nodeId && data.standing !== 'silent');
});

test('shards are spread evenly again when a node joins', async () => {
  assert.deepEqual([...(await fleet.shares()).values()].sort(), [42, 43, 43]);
  await fleet.join();
  await fleet.spread();
  assert.deepEqual([...(await fleet.shares()).values()], [32, 32, 32, 32]);
});

/** Requests that all nodes together handed to another. */
async function forwardedRequests(): Promise<number> {
  const counts = await Promise.all(
    fleet.nodes.map((node: FleetNode) => node.metric('msgapi_runtime_link_calls_total')),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

async function statusesOfMe(key: string): Promise<number[]> {
  return Promise.all(fleet.nodes.map(async (node) => (await node.api(key).get('/me')).status));
}
