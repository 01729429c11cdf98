/** The erasure of a tenant with many shops and events: always answered, and finished also after a kill. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Redis } from 'ioredis';
import { tenantKeys } from '../../../actors/tenants/tenant-keys.ts';
import { until } from '../../testbed/waiting.ts';
import { makeAccount } from '../stack/account.ts';
import { sharedStack } from '../stack/shared-stack.ts';
import { tracesIn } from '../stack/traces.ts';

const SHOPS = 200;
const EVENTS = 5_000;

let redis: Redis;
after(() => redis?.disconnect());
const stack = sharedStack({}, () => {
  redis = new Redis(stack.redis.url);
});

/** A tenant with many shops, and a stream with events of all of them. */
async function largeTenant(): Promise<{ tenantId: string; shopIds: readonly string[] }> {
  const { tenantId } = await makeAccount(stack.admin, 'Large');
  const madeAnswers = await Promise.all(
    Array.from({ length: SHOPS }, (_, index) =>
      stack.admin.post(`/tenants/${tenantId}/shops`, { name: `Shop ${index}` }),
    ),
  );
  const shopIds = madeAnswers.map(({ data }) => String(data.id));
  const { events } = tenantKeys(tenantId);
  const adding = redis.pipeline();
  for (let index = 0; index < EVENTS; index += 1)
    adding.xadd(events, '*', 't', 'queue.resumed', 's', shopIds[index % SHOPS] ?? '', 'd', '{}');
  await adding.exec();
  return { tenantId, shopIds };
}

/** Asks for the erasure until it is finished. Returns the statuses of all answers. */
async function deleteUntilGone(tenantId: string): Promise<number[]> {
  const statuses: number[] = [];
  await until('the tenant is erased', async () => {
    const { status } = await stack.admin.delete(`/tenants/${tenantId}`);
    statuses.push(status);
    return status === 200 || status === 404;
  });
  return statuses;
}

test('a tenant with many shops and events is erased, and each request meanwhile is answered', async () => {
  const { tenantId, shopIds } = await largeTenant();
  const statuses = await deleteUntilGone(tenantId);
  assert.ok(statuses.length > 1, 'a request came while the erasure ran');
  assert.deepEqual(
    [...new Set(statuses.slice(0, -1))].filter((status) => status !== 202),
    [],
  );
  assert.equal((await stack.admin.get(`/tenants/${tenantId}/erasure`)).status, 404);
  assert.equal((await stack.admin.delete(`/tenants/${tenantId}`)).status, 404);
  assert.deepEqual(await tracesIn(redis, [tenantId, ...shopIds]), []);
});

test('an erasure continues after a kill in the middle of it, without another call', async () => {
  const { tenantId, shopIds } = await largeTenant();
  const { erasing, record } = tenantKeys(tenantId);
  void stack.admin.delete(`/tenants/${tenantId}`).catch(() => undefined);
  await until('some of the shops are erased', async () => {
    const left = await redis.scard(erasing);
    return left > 0 && left < SHOPS - 10;
  });
  await stack.end('SIGKILL');
  assert.equal(await redis.exists(record), 1, 'the kill came in the middle');
  await stack.start();
  const runningAnswer = await stack.admin.get(`/tenants/${tenantId}/erasure`);
  if (runningAnswer.status === 200) assert.equal(runningAnswer.data.wholeTenant, true);
  await until('the erasure has ended', async () => {
    return (await stack.admin.get(`/tenants/${tenantId}/erasure`)).status === 404;
  });
  assert.deepEqual(await tracesIn(redis, [tenantId, ...shopIds]), []);
});

test('the erasure of one shop of such a tenant leaves the events of the others', async () => {
  const { tenantId, shopIds } = await largeTenant();
  const [shopId = ''] = shopIds;
  await until('the shop is erased', async () => {
    const { status } = await stack.admin.delete(`/tenants/${tenantId}/shops/${shopId}`);
    assert.ok([200, 202, 404].includes(status), String(status));
    return status !== 202;
  });
  assert.deepEqual(await tracesIn(redis, [shopId]), []);
  assert.equal(await redis.xlen(tenantKeys(tenantId).events), EVENTS - EVENTS / SHOPS);
});
