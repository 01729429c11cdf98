/** A tenant whose actor crashed too often, before the operators' API: the real runtime, services and Redis; of the rest, fakes. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fleetService } from '../../actors/operators/fleet-service.ts';
import { type OperatorServiceOptions, operatorService } from '../../actors/operators/operator-service.ts';
import type { OperatorsDirectory } from '../../actors/operators/operators-directory.ts';
import { readChannelStatuses } from '../../actors/shops/views/channel-view.ts';
import { StoredKeyDirectory } from '../../actors/tenants/key-directory.ts';
import { tenantBehaviour } from '../../actors/tenants/tenant-behaviour.ts';
import { tenantKeys } from '../../actors/tenants/tenant-keys.ts';
import { tenantService } from '../../actors/tenants/tenant-service.ts';
import { UsageStorer } from '../../actors/tenants/usage-storer.ts';
import { KeyLimits } from '../../policy/limits/key-limits.ts';
import { shardOf } from '../../runtime/address.ts';
import { systemClock as clock } from '../../runtime/clock.ts';
import { objectIdGenerator } from '../../runtime/object-id.ts';
import { systemRandom } from '../../runtime/random.ts';
import { type RedisServer, startRedisServer } from '../redis-server.ts';
import { eventually, type RedisNode, redisNode } from '../runtime/redis-node.ts';
import type { Target, TestTenant } from './conformance-target.ts';
import { ADMIN_TOKEN, type ServiceFixture, startService, targetOf } from './service-fixture.ts';

let redis: RedisServer;
let runtime: RedisNode;
let usage: UsageStorer;
let service: ServiceFixture;
let target: Target;
/** True if the next new shop finds the poison when its id is made. */
let isPoisoned = false;

before(async () => {
  redis = await startRedisServer();
  runtime = await redisNode({ redisUrl: redis.url, limits: { restartIntensity: 1, backoffMs: 1 } });
  const { node, log } = runtime;
  const { actors, store } = node;
  const keyLimits = new KeyLimits();
  usage = new UsageStorer({ actors, clock, keyLimits });
  const newId = objectIdGenerator(systemRandom);
  const makeId = (nowMs: number): string => {
    if (isPoisoned) throw new Error('no id to be had');
    return newId(nowMs);
  };
  node.register(tenantBehaviour({ keyLimits, makeId, retentionMs: 1, perform: () => undefined }));
  const keys = new StoredKeyDirectory(store);
  const operatorsDirectory = { refresh: () => undefined } as unknown as OperatorsDirectory;
  const host = { available: () => true, describe: () => undefined, tryEgress: async () => undefined };
  const egressVault = {} as OperatorServiceOptions['egressVault'];
  const around = { actors, store, clock, operatorsDirectory, host, egressVault, log };
  service = await startService({
    keys,
    tenants: tenantService({
      actors,
      store,
      clock,
      keyLimits,
      usage,
      channelStatuses: (tenantId, shopIds) => readChannelStatuses(store, tenantId, shopIds),
    }),
    operators: operatorService({
      ...around,
      directory: keys,
      makeId: newId,
      erasure: {} as OperatorServiceOptions['erasure'],
    }),
    fleet: fleetService({ node, clock, host, directory: operatorsDirectory, link: node.link }),
  });
  target = await targetOf(service);
});
after(async () => {
  target?.close();
  await service?.stop();
  usage?.stop();
  await runtime?.node.stop();
  await redis?.stop();
});

const operator = (method: string, path: string, json?: unknown) =>
  target.admin.call(method, path, { key: ADMIN_TOKEN, json });
const me = async ({ key }: TestTenant) => (await target.api.call('GET', '/me', { key })).status;

async function suspendedTenant(): Promise<TestTenant> {
  const tenant = await target.tenant();
  isPoisoned = true;
  for (const _ of [1, 2]) {
    const crashed = await operator('POST', `/tenants/${tenant.id}/shops`, { name: 'Bakery' });
    assert.equal(crashed.body.error.code, 'INTERNAL_ERROR');
  }
  isPoisoned = false;
  return tenant;
}

test('every call of a suspended tenant is refused; operators see why and resume it, and it continues unchanged', async () => {
  const tenant = await suspendedTenant();
  const refused = await target.api.call('GET', '/me', { key: tenant.key });
  assert.deepEqual([refused.status, refused.body.error.code], [503, 'BOT_SERVICE_UNREACHABLE']);

  const { actor, ...seen } = (await operator('GET', `/tenants/${tenant.id}`)).body.data;
  assert.deepEqual(
    [actor.status, actor.restarts, actor.lastError.message],
    ['suspended', 2, 'no id to be had'],
  );

  const resumed = await operator('POST', `/tenants/${tenant.id}/resume`);
  assert.equal(resumed.status, 200);
  const { actor: afterwards, ...same } = resumed.body.data;
  assert.deepEqual([afterwards.status, afterwards.restarts], ['active', 0]);
  assert.deepEqual(same, seen);
  assert.equal(await me(tenant), 200);
  assert.equal((await operator('POST', `/tenants/${tenant.id}/shops`, { name: 'Bakery' })).status, 201);
});

test('the overview names the tenants that are suspended, and forgets the ones that were resumed', async () => {
  const tenant = await suspendedTenant();
  const suspended = async () => (await operator('GET', '/overview')).body.data.suspendedTenants as string[];
  // Nodes are counted once a second, so a reader may have to ask more than once.
  await eventually(async () => (await suspended()).includes(tenant.id));
  await operator('POST', `/tenants/${tenant.id}/resume`);
  await eventually(async () => (await suspended()).length === 0);
});

test('to resume a tenant that runs changes nothing and answers the tenant; one that is not there is 404', async () => {
  const tenant = await target.tenant();
  const resumed = await operator('POST', `/tenants/${tenant.id}/resume`);
  assert.equal(resumed.status, 200);
  assert.deepEqual(resumed.body.data, (await operator('GET', `/tenants/${tenant.id}`)).body.data);
  assert.equal(await me(tenant), 200);
  for (const missing of ['b'.repeat(24), 'nonsense']) {
    const answer = await operator('POST', `/tenants/${missing}/resume`);
    assert.deepEqual([answer.status, answer.body.error.code], [404, 'NOT_FOUND']);
  }
});

test('the shops of a tenant that is not there are 404 NOT_FOUND', async () => {
  const tenant = await target.tenant();
  assert.equal((await operator('GET', `/tenants/${tenant.id}/shops`)).status, 200);
  const answer = await operator('GET', `/tenants/${'b'.repeat(24)}/shops`);
  assert.deepEqual([answer.status, answer.body.error.code], [404, 'NOT_FOUND']);
});

test('a tenant whose keys cannot be read is shown all the same, and runs once they are mended and it is resumed', async () => {
  const tenant = await suspendedTenant();
  const { apiKeys } = tenantKeys(tenant.id);
  const broken = (value: string) =>
    runtime.node.store.commit(shardOf(tenant.id), [['HSET', apiKeys, 'broken', value]]);
  await broken('{');
  const unhealed = await operator('POST', `/tenants/${tenant.id}/resume`);
  assert.deepEqual([unhealed.status, unhealed.body.error.code], [503, 'BOT_SERVICE_UNREACHABLE']);
  const { actor } = (await operator('GET', `/tenants/${tenant.id}`)).body.data;
  assert.equal(actor.status, 'suspended');
  assert.match(actor.lastError.message, /JSON/);
  await runtime.node.store.commit(shardOf(tenant.id), [['HDEL', apiKeys, 'broken']]);
  assert.equal((await operator('POST', `/tenants/${tenant.id}/resume`)).status, 200);
  assert.equal(await me(tenant), 200);
});
