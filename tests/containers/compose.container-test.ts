/** compose.yaml, run: two nodes and Redis behind one port, one node killed, one stopped, both back. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Account, makeAccount } from '../e2e/stack/account.ts';
import { type ApiClient, apiClient } from '../e2e/stack/api-client.ts';
import { until } from '../testbed/waiting.ts';
import { type Composed, composeUp } from './composed.ts';

/** Enough that each node owns some of them. */
const TENANTS = 8;

let composed: Composed;
let admin: ApiClient;
const accounts: Account[] = [];

before(async () => {
  composed = await composeUp();
  admin = apiClient(() => `${composed.adminUrl}/admin/v1`, composed.adminToken);
  await untilShared({ 'node-1': 64, 'node-2': 64 });
  for (let index = 0; index < TENANTS; index += 1) accounts.push(await makeAccount(admin, `Tenant ${index}`));
});

after(() => composed?.down());

test('both nodes are reached through one port and share the work evenly', async () => {
  for (const account of accounts) assert.equal((await me(account)).status, 200);
});

// That attachments go through is tested with the image alone: these nodes reach no chat network but the real one.
test('nodes, Redis and the proxy run without a privilege on read-only file systems with space for attachments', async () => {
  const users = { 'node-1': '65532:65532', 'node-2': '65532:65532', redis: 'redis', front: '65532:65532' };
  for (const [service, user] of Object.entries(users)) {
    const tmpfs = service === 'redis' ? [] : ['/tmp'];
    assert.deepEqual(await composed.confinement(service), { readOnly: true, user, added: 0, tmpfs }, service);
  }
});

test('the address in the request log is the one that the proxy saw, for any header of the caller', async () => {
  const [account] = accounts;
  assert.ok(account);
  await fetch(`${composed.apiUrl}/shops`, {
    headers: { authorization: `Bearer ${account.apiKey}`, 'x-forwarded-for': '203.0.113.7' },
  });
  const entry = await until('the request is in the log', async () => {
    const { data } = await admin.get(`/requests?tenant=${account.tenantId}&route=/shops`);
    return (data.items as { ip: string }[])[0];
  });
  assert.match(entry.ip, /^172\.30\.57\.1$/);
});

test('the operators’ events come through the proxy as they happen', async () => {
  const end = new AbortController();
  const answer = await fetch(`${composed.adminUrl}/admin/v1/events`, {
    headers: { authorization: `Bearer ${composed.adminToken}` },
    signal: AbortSignal.any([end.signal, AbortSignal.timeout(5_000)]),
  });
  const first = await answer.body?.getReader().read();
  assert.match(Buffer.from(first?.value ?? []).toString(), /^retry: /);
  end.abort();
});

test('a node is killed: the other one answers for its tenants within 15 seconds', async () => {
  await composed.end('node-2', 'SIGKILL');
  await untilShared({ 'node-1': 128 });
  for (const account of accounts) assert.equal((await me(account)).status, 200);
});

test('a node that comes back takes its half again', async () => {
  await composed.start('node-2');
  await untilShared({ 'node-1': 64, 'node-2': 64 });
  for (const account of accounts) assert.equal((await me(account)).status, 200);
});

test('SIGTERM: a node hands over its tenants and exits with 0', async () => {
  assert.equal(await composed.end('node-1', 'SIGTERM'), 0);
  // No caller has to wait for a lease to expire.
  await untilShared({ 'node-2': 128 }, 4_000);
  for (const account of accounts) assert.equal((await me(account)).status, 200);
});

test('with no node left the proxy answers as the service does: 503 SERVICE_UNAVAILABLE, worth another try', async () => {
  const [account] = accounts;
  assert.ok(account);
  await composed.end('node-2', 'SIGTERM');
  const answer = await me(account);
  assert.deepEqual(
    [answer.status, answer.error?.code, answer.error?.retryAfter],
    [503, 'SERVICE_UNAVAILABLE', 1],
  );
  assert.equal(answer.headers.get('retry-after'), '1');
  assert.ok(answer.headers.get('x-request-id'));
  await Promise.all([composed.start('node-1'), composed.start('node-2')]);
  await untilShared({ 'node-1': 64, 'node-2': 64 });
  assert.equal((await me(account)).status, 200);
});

function me({ apiKey }: Account) {
  return apiClient(() => composed.apiUrl, apiKey).get('/me');
}

/** Waits until the nodes own these numbers of shards, and there is no other node. */
async function untilShared(wanted: Readonly<Record<string, number>>, withinMs = 15_000): Promise<void> {
  await until(
    `the shards are shared as ${JSON.stringify(wanted)}`,
    async () => {
      const { data } = await admin.get('/nodes');
      const items = (data.items ?? []) as { nodeId: string; shards: number }[];
      const found = Object.fromEntries(items.map(({ nodeId, shards }) => [nodeId, shards]));
      return (
        items.length === Object.keys(wanted).length &&
        Object.entries(wanted).every(([nodeId, shards]) => found[nodeId] === shards)
      );
    },
    { withinMs, everyMs: 200 },
  );
}
