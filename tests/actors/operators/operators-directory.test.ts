/**
 * The operators' list of tenants follows their records, also after a failure and after a node that ended in between.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import {
  type DirectoryConnection,
  openDirectoryConnection,
} from '../../../actors/operators/directory-connection.ts';
import { OperatorsDirectory } from '../../../actors/operators/operators-directory.ts';
import { tenantKeys, tenantsOfShardKey } from '../../../actors/tenants/tenant-keys.ts';
import { shardOf } from '../../../runtime/address.ts';
import { systemClock } from '../../../runtime/clock.ts';
import type { Store } from '../../../runtime/store.ts';
import { redisLink } from '../../e2e/stack/redis-link.ts';
import { startRedisPair } from '../../e2e/stack/redis-pair.ts';
import { plainStore } from '../../http/service-fixture.ts';
import { FakeClock } from '../../testbed/fake-clock.ts';
import { QuietLog } from '../../testbed/quiet-log.ts';
import { sharedRedis } from '../../testbed/shared-redis.ts';
import { until } from '../../testbed/waiting.ts';
import { storeTenant } from './stored-tenant.ts';

let connection: DirectoryConnection;
after(() => connection?.close());
const { redis, url: redisUrl } = sharedRedis({}, async () => {
  connection = await openDirectoryConnection({
    redisUrl,
    clock: systemClock,
    log: new QuietLog(),
  });
});

const FIRST = '66b1f0a2c3d4e5f607182901';
const SECOND = '66b1f0a2c3d4e5f607182902';
const GONE = '66b1f0a2c3d4e5f607182903';

const makeTenant = (id: string, name: string): Promise<void> => storeTenant(redis, id, name);

function directoryOver(store: Pick<Store, 'read' | 'append'>, clock = new FakeClock()) {
  const log = new QuietLog();
  return {
    log,
    directory: new OperatorsDirectory({
      store: store as Store,
      clock,
      connection: connection.connection,
      log,
    }),
  };
}

async function listed({ directory }: ReturnType<typeof directoryOver>): Promise<string[]> {
  const { items } = await directory.list({ limit: 10, cursor: undefined, q: undefined });
  return items.map(({ name }) => name);
}

test('a node that starts lists the tenants that are not listed, and takes out those that are gone', async () => {
  await redis.flushall();
  await makeTenant(FIRST, 'First');
  await makeTenant(SECOND, 'Second');
  await makeTenant(GONE, 'Gone');
  const world = directoryOver(plainStore(redis));
  await world.directory.repair();
  assert.deepEqual(await listed(world), ['Gone', 'Second', 'First']);
  await redis.del(tenantKeys(GONE).record);
  await redis.srem(tenantsOfShardKey(shardOf(GONE)), GONE);
  await makeTenant(FIRST, 'Listed under its old name until it changes again');
  await world.directory.repair();
  assert.deepEqual(await listed(world), ['Second', 'First']);
});

test('no entry stays of a tenant that another node erases while its entry is stored', async () => {
  await redis.flushall();
  await makeTenant(GONE, 'Gone');
  const store = plainStore(redis);
  const { directory } = directoryOver({
    read: store.read,
    async append(writes) {
      await redis.del(tenantKeys(GONE).record);
      return store.append(writes);
    },
  });
  await directory.refresh(GONE);
  assert.deepEqual(await redis.keys('directory:*'), []);
});

test('a node that ends while it stores an entry leaves none that the list does not name', async () => {
  await redis.flushall();
  await makeTenant(FIRST, 'First');
  const { directory } = directoryOver({
    read: plainStore(redis).read,
    append: () => Promise.reject(new Error('killed')),
  });
  await directory.refresh(FIRST);
  assert.deepEqual(await redis.keys('directory:*'), []);
});

test('an entry that could not be brought up to date is tried again until it is', async () => {
  await redis.flushall();
  await makeTenant(FIRST, 'First');
  const store = plainStore(redis);
  let failures = 2;
  const clock = new FakeClock();
  const world = directoryOver(
    {
      ...store,
      read(reads) {
        const fails = reads.length === 2 && failures > 0;
        if (fails) failures -= 1;
        return fails ? Promise.reject(new Error('Redis is away')) : store.read(reads);
      },
    },
    clock,
  );
  void world.directory.refresh(FIRST);
  await clock.until(() => world.log.warnings.length === 2);
  await until('the tenant is listed', async () => {
    await clock.advance(5_000);
    return (await listed(world)).length === 1;
  });
  assert.equal(world.log.warnings.length, 2);
});

test('a caller that updates an entry may wait for it, and waits for no Redis that does not answer', async () => {
  await redis.flushall();
  await makeTenant(FIRST, 'First');
  const world = directoryOver(plainStore(redis));
  await world.directory.refresh(FIRST);
  assert.deepEqual(await listed(world), ['First']);
  const clock = new FakeClock();
  const { directory } = directoryOver(
    { ...plainStore(redis), read: () => new Promise<never>(() => undefined) },
    clock,
  );
  let isOver = false;
  void directory.refresh(FIRST).then(() => {
    isOver = true;
  });
  await clock.advance(999);
  assert.ok(!isOver);
  await clock.advance(1);
  assert.ok(isOver);
});

test('the directory leaves a server that became a replica and kept its connections, and connects to the new master', async (context) => {
  const pair = await startRedisPair();
  context.after(() => pair.stop());
  const link = await redisLink(pair.master().socketPath);
  context.after(() => link.close());
  const clock = new FakeClock();
  const ownConnection = await openDirectoryConnection({ redisUrl: link.url, clock, log: new QuietLog() });
  context.after(() => ownConnection.close());
  const client = ownConnection.connection as unknown as {
    set(key: string, value: string): Promise<string>;
  };
  await client.set('known', 'before');
  await pair.changeRoles();
  link.moveTo(pair.master().socketPath);
  await assert.rejects(client.set('known', 'after'), { message: /READONLY/ });
  await until('it writes to the master', async () => {
    await clock.advance(5_000);
    return await client.set('known', 'after').catch(() => undefined);
  });
});
