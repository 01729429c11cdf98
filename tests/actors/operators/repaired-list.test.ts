/** A node that starts repairs the operators' list of tenants in the background. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Redis } from 'ioredis';
import { systemClock as clock } from '../../../runtime/clock.ts';
import type { RuntimeNode } from '../../../runtime/node/node.ts';
import type { Store } from '../../../runtime/store.ts';
import { openDirectory } from '../../../service/compose-operators.ts';
import { startMemoryStack } from '../../e2e/stack/memory-stack.ts';
import { fakeOf } from '../../testbed/fake-of.ts';
import { LineLog } from '../../testbed/line-log.ts';
import { startRedisServer } from '../../testbed/redis-server.ts';
import { until } from '../../testbed/waiting.ts';
import { storeTenant } from './stored-tenant.ts';

const TENANT_ID = '66b1f0a2c3d4e5f607182901';

test('a service that starts lists a tenant that the list lacked', async (context) => {
  const stack = await startMemoryStack({}, async (redisUrl) => {
    const redis = new Redis(redisUrl);
    await storeTenant(redis, TENANT_ID, 'Left out');
    redis.disconnect();
  });
  context.after(() => stack.stop());
  const tenant = await until('the entry of the tenant', async () => {
    const { data } = await stack.admin.get('/tenants?q=left');
    return (data.items as readonly { readonly id: string }[])[0];
  });
  assert.equal(tenant.id, TENANT_ID);
});

test('a repair that fails has a line in the log, and the node goes on', async (context) => {
  const server = await startRedisServer();
  context.after(() => server.stop());
  const log = new LineLog();
  const store = fakeOf<Store>({ read: () => Promise.reject(new Error('no answer')) });
  const node = fakeOf<RuntimeNode>({ store });
  const { repair, close } = await openDirectory({ redisUrl: server.url, clock, log, node });
  context.after(close);
  repair();
  const { level, message } = await log.first;
  assert.deepEqual([level, message], ['warn', "the operators' directory could not be repaired"]);
});
