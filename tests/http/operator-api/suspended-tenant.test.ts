/** A tenant whose actor crashed too often, before the operators' API. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../../testbed/waiting.ts';
import { breakTenant, type RealService } from '../real-service.ts';
import { sharedRealService } from '../shared-service.ts';
import type { TestTenant } from '../target.ts';

const service = sharedRealService();

const operator: RealService['operator'] = (...call) => service.operator(...call);
const me = async ({ key }: TestTenant) => (await service.api.call('GET', '/me', { key })).status;

/** A tenant whose keys cannot be read, and a function that mends them. */
async function suspendedTenant() {
  const tenant = await service.tenant();
  return { tenant, mend: await breakTenant(service.runtime.node, tenant.id) };
}

test('every call of a suspended tenant is refused until an operator resumes it', async () => {
  const { tenant, mend } = await suspendedTenant();
  const refusedReply = await service.api.call('GET', '/me', { key: tenant.key });
  assert.deepEqual([refusedReply.status, refusedReply.body.error.code], [503, 'BOT_SERVICE_UNREACHABLE']);

  const { actor, ...seen } = (await operator('GET', `/tenants/${tenant.id}`)).body.data;
  assert.deepEqual([actor.status, actor.restarts], ['suspended', 2]);
  assert.match(actor.lastError.message, /^SyntaxError at /);
  const unhealed = await operator('POST', `/tenants/${tenant.id}/resume`);
  assert.deepEqual([unhealed.status, unhealed.body.error.code], [503, 'BOT_SERVICE_UNREACHABLE']);

  await mend();
  const resumedReply = await operator('POST', `/tenants/${tenant.id}/resume`);
  assert.equal(resumedReply.status, 200);
  const { actor: afterwards, ...same } = resumedReply.body.data;
  assert.deepEqual([afterwards.status, afterwards.restarts], ['active', 0]);
  assert.deepEqual(same, seen);
  assert.equal(await me(tenant), 200);
  assert.equal((await operator('POST', `/tenants/${tenant.id}/shops`, { name: 'Bakery' })).status, 201);
});

test('the overview names the tenants that are suspended, and forgets the ones that were resumed', async () => {
  const { tenant, mend } = await suspendedTenant();
  const suspended = async () => (await operator('GET', '/overview')).body.data.suspendedTenants as string[];
  // Nodes are counted once a second, so a reader may have to ask more than once.
  await eventually(async () => (await suspended()).includes(tenant.id));
  await mend();
  await operator('POST', `/tenants/${tenant.id}/resume`);
  await eventually(async () => (await suspended()).length === 0);
});

test('to resume a running tenant changes nothing; a missing one is 404', async () => {
  const tenant = await service.tenant();
  const resumedReply = await operator('POST', `/tenants/${tenant.id}/resume`);
  assert.equal(resumedReply.status, 200);
  assert.deepEqual(resumedReply.body.data, (await operator('GET', `/tenants/${tenant.id}`)).body.data);
  assert.equal(await me(tenant), 200);
  for (const missing of ['b'.repeat(24), 'nonsense']) {
    const answer = await operator('POST', `/tenants/${missing}/resume`);
    assert.deepEqual([answer.status, answer.body.error.code], [404, 'NOT_FOUND']);
  }
});

test('the shops of a tenant that is not there are 404 NOT_FOUND', async () => {
  const tenant = await service.tenant();
  assert.equal((await operator('GET', `/tenants/${tenant.id}/shops`)).status, 200);
  const answer = await operator('GET', `/tenants/${'b'.repeat(24)}/shops`);
  assert.deepEqual([answer.status, answer.body.error.code], [404, 'NOT_FOUND']);
});
