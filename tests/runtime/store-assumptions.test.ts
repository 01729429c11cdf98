/** The assumptions about Redis are checked when a node starts and while it runs. */
import assert from 'node:assert/strict';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Redis } from 'ioredis';
import type { RuntimeNode } from '../../runtime/node/node.ts';
import { type AssumptionName, isHeld } from '../../runtime/store-assumptions.ts';
import { startRedisCluster } from '../e2e/stack/redis-cluster.ts';
import { startRedisPair } from '../e2e/stack/redis-pair.ts';
import { startRedisServer } from '../testbed/redis-server.ts';
import { eventually } from '../testbed/waiting.ts';
import { counterAddress } from './counter-behaviour.ts';
import { redisNode } from './redis-node.ts';

const firstAddress = counterAddress('one');
const limits = { claimEveryMs: 50 };

/** Waits until the node has seen that the assumption holds, or that it does not. */
function untilHeld(node: RuntimeNode, name: AssumptionName, held: boolean): Promise<void> {
  return eventually(() => node.storeServers().length > 0 && isHeld(name, node.storeServers()) === held);
}

for (const policy of ['allkeys-lru', 'volatile-lru', 'volatile-ttl']) {
  test(`a Redis that drops data (${policy}) is refused at the start, in a sentence that names the setting`, async () => {
    const server = await startRedisServer({ extraArgs: ['--maxmemory-policy', policy] });
    await assert.rejects(redisNode({ redisUrl: server.url }), {
      message: new RegExp(`maxmemory-policy ${policy}.*set maxmemory-policy noeviction`),
    });
    await server.stop();
  });
}

test('a replica is refused at the start', async () => {
  const pair = await startRedisPair();
  await assert.rejects(redisNode({ redisUrl: pair.replica().socketPath }), {
    message: /read-only replica: REDIS_URL must lead to the master/,
  });
  await pair.stop();
});

test('a policy that changes while a node runs is logged as an error once, and so is its correction', async () => {
  const server = await startRedisServer();
  const redis = new Redis(server.url);
  const { node, log } = await redisNode({ redisUrl: server.url, limits });
  const told = () => log.errors.filter((message) => message.includes('maxmemory-policy allkeys-lfu')).length;
  await redis.config('SET', 'maxmemory-policy', 'allkeys-lfu');
  await untilHeld(node, 'noeviction', false);
  await eventually(() => told() === 1);
  await redis.config('SET', 'maxmemory-policy', 'noeviction');
  await untilHeld(node, 'noeviction', true);
  assert.equal(told(), 1);
  await eventually(() => log.infos.includes('Redis meets this assumption again'));
  await node.stop();
  redis.disconnect();
  await server.stop();
});

test('a Redis without an append-only file is logged as an error at the start', async () => {
  const server = await startRedisServer({ extraArgs: ['--appendonly', 'no'] });
  const { node, log } = await redisNode({ redisUrl: server.url });
  assert.ok(log.errors.some((message) => message.includes('no append-only file')));
  assert.equal(isHeld('append_only', node.storeServers()), false);
  await node.stop();
  await server.stop();
});

test('a Redis that cannot write to its disk is logged as an error, and so is its recovery', async () => {
  const server = await startRedisServer();
  const redis = new Redis(server.url);
  const { node, log } = await redisNode({ redisUrl: server.url, limits });
  const [, directory = ''] = await redis.config('GET', 'dir');
  const saved = async (status: string) => {
    await redis.bgsave();
    await eventually(async () =>
      (await redis.info('persistence')).includes(`rdb_last_bgsave_status:${status}`),
    );
  };
  // No snapshot can be written under this name.
  const inItsPlace = join(directory, 'dump.rdb');
  rmSync(inItsPlace, { force: true });
  mkdirSync(inItsPlace);
  await saved('err');
  await untilHeld(node, 'disk', false);
  await eventually(() => log.errors.some((message) => message.includes('failed to write to its disk')));
  rmSync(inItsPlace, { recursive: true });
  await saved('ok');
  await untilHeld(node, 'disk', true);
  await node.stop();
  redis.disconnect();
  await server.stop();
});

test('replicas that no write waits for are logged, until min-replicas-to-write is set', async () => {
  const pair = await startRedisPair();
  const { node, log } = await redisNode({ redisUrl: pair.master().socketPath, limits });
  await untilHeld(node, 'safe_failover', false);
  assert.ok(log.warnings.some((message) => message.includes('set min-replicas-to-write 1')));
  assert.equal(node.storeServers()[0]?.replicas, 1);
  const redis = new Redis(pair.master().socketPath);
  await redis.config('SET', 'min-replicas-to-write', '1');
  await untilHeld(node, 'safe_failover', true);
  redis.disconnect();
  await node.stop();
  await pair.stop();
});

test('in a cluster clients are refused before one of its masters is full, and each master is looked at', async () => {
  const cluster = await startRedisCluster();
  const { node } = await redisNode({ redisUrl: cluster.url, limits });
  await eventually(() => node.actors.owns(firstAddress.shard));
  await node.actors.ask(firstAddress, { type: 'add', by: 1 });
  assert.equal(node.storeServers().length, 3);
  const fullest = new Redis(cluster.masters[1]?.socketPath ?? '');
  const used = Number(/^used_memory:(\d+)/m.exec(await fullest.info('memory'))?.[1]);
  // More than the share at which clients are refused, and less than the whole memory.
  await fullest.config('SET', 'maxmemory', String(Math.round(used / 0.97)));
  const asked = () =>
    node.actors.ask(firstAddress, { type: 'read' }).then(
      () => 'answered',
      ({ code, message }) => `${code}: ${message}`,
    );
  await eventually(async () => (await asked()) === 'STORE_UNAVAILABLE: Redis is almost full');
  await fullest.config('SET', 'maxmemory', '0');
  await eventually(async () => (await asked()) === 'answered');
  await fullest.config('SET', 'maxmemory-policy', 'allkeys-lru');
  await untilHeld(node, 'noeviction', false);
  fullest.disconnect();
  await node.stop();
  await cluster.stop();
});
