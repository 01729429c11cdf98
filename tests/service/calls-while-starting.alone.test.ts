/** A call that comes before a node has its lease waits for it, since the node may own the tenant then. */
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mock, test } from 'node:test';
import { systemClock as clock } from '../../runtime/clock.ts';
import { RedisEngine } from '../../runtime/redis/redis-engine.ts';
import { type Service, startService, stopService } from '../../service/compose-service.ts';
import { serviceEnvironment } from '../../service/environment.ts';
import { makeAccount } from '../e2e/stack/account.ts';
import { apiClient } from '../e2e/stack/api-client.ts';
import { MemorySessionHost } from '../testbed/memory-network/memory-session-host.ts';
import { QuietLog } from '../testbed/quiet-log.ts';
import { sharedRedis } from '../testbed/shared-redis.ts';
import { eventually } from '../testbed/waiting.ts';
import { nodeSettings } from './node-settings.ts';

const { url: redisUrl } = sharedRedis();
/** So many other calls are answered one after the other while one waits. */
const OTHER_CALLS = 50;

test('a call before the lease is answered once the node owns its tenant', async (context) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'starting-'));
  context.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const settings = await nodeSettings({ nodeId: 'starting-1', redisUrl, dataDir });
  const environment = serviceEnvironment(settings);
  const adminUrl = `http://127.0.0.1:${settings.ADMIN_PORT}/admin/v1`;
  const url = `http://127.0.0.1:${settings.PORT}/api/v1`;
  const start = (): Promise<Service> =>
    startService({
      environment,
      log: new QuietLog(),
      onLost: () => undefined,
      startHost: (_node, listener) => new MemorySessionHost({ clock, listener }),
    });

  const first = await start();
  const account = await makeAccount(
    apiClient(() => adminUrl, settings.ADMIN_TOKEN),
    'Tenant',
  );
  await stopService(first);

  const released = new EventEmitter();
  const register = RedisEngine.prototype.register;
  mock.method(
    RedisEngine.prototype,
    'register',
    async function (this: RedisEngine, ...args: Parameters<typeof register>) {
      await once(released, 'register');
      await register.apply(this, args);
    },
  );
  const starting = start();
  context.after(async () => {
    released.emit('register');
    await stopService(await starting);
  });
  const isOpen = (): Promise<boolean> =>
    fetch(`${url}/me`).then(
      ({ status }) => status === 401,
      () => false,
    );
  await eventually(isOpen, 10_000);
  const tenant = apiClient(() => url, account.apiKey);
  let status: number | undefined;
  const call = tenant.get('/me').then((reply) => {
    status = reply.status;
  });
  for (let index = 0; index < OTHER_CALLS; index += 1) assert.ok(await isOpen());
  assert.equal(status, undefined, 'the call waits');
  released.emit('register');
  await call;
  assert.equal(status, 200);
});
