/** The network refuses the clients of the whole fleet for their version, and names a newer one on its page. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../testbed/waiting.ts';
import { sharedStack } from '../stack/shared-stack.ts';
import { connectShop } from '../stack/shop-steps.ts';

const NEWEST = 1_099_000_777;

const stack = sharedStack({ environment: { MSGAPP_CLIENT_VERSION: 'latest' } });

async function channel(): Promise<Readonly<Record<string, unknown>>> {
  return (await stack.api.get(`/shops/${stack.shopId}/channels/msgapp`)).data;
}

test('a session that is refused for its version comes back with the one that the page names, also after a restart', async () => {
  await until('the page was read', async () => (await stack.network.clientVersions()).asked === 1);
  await connectShop(stack, stack.shopId, '+33611110021');
  await stack.network.setClientVersions({ least: NEWEST, newest: NEWEST });
  await until('the version is refused', async () => (await channel()).reason === 'CLIENT_OUTDATED');
  await until('the newest is known', async () => stack.serviceLog().includes(`"2.3000.${NEWEST}"`));
  // It would be tried by itself within 90 s.
  await stack.api.post(`/shops/${stack.shopId}/channels/msgapp/connect`);
  await until('it is back', async () => (await channel()).status === 'connected');
  await stack.end('SIGKILL');
  await stack.start();
  await until('it is back after a restart', async () => (await channel()).status === 'connected');
  assert.equal((await stack.network.clientVersions()).asked, 2, 'once a day, and once after the refusal');
});

test('operators set a version for the fleet, see it, and take it back; each change is in the audit log', async () => {
  const version = `2.3000.${NEWEST + 1}`;
  const pageVersion = `2.3000.${NEWEST}`;
  const set = await stack.admin.patch('/client-version', { version });
  assert.deepEqual([set.status, set.data], [200, { version, pageVersion }]);
  assert.deepEqual((await stack.admin.get('/client-version')).data, { version, pageVersion });
  for (const bad of ['latest', '2.3000', '2.3000.99999999999', 7]) {
    const { status, error } = await stack.admin.patch('/client-version', { version: bad });
    assert.deepEqual([status, error?.fields?.map(({ field }) => field)], [422, ['version']], String(bad));
  }
  const back = await stack.admin.patch('/client-version', { version: null });
  assert.deepEqual(back.data, { version: null, pageVersion });
  const { data } = await stack.admin.get(`/audit?route=${encodeURIComponent('/client-version')}`);
  const statuses = (data.items as { status: number }[]).map(({ status }) => status);
  assert.deepEqual(statuses, [200, 422, 422, 422, 422, 200]);
});
