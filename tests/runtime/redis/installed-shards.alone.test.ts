/** An installation chooses the number of its shards once; every node keeps to what the data has. */

import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { Redis } from 'ioredis';
import { forgetShardCount, setShardCount, shardCount, shardOf } from '../../../runtime/address.ts';
import { type RedisServer, startRedisServer } from '../../testbed/redis-server.ts';
import { eventually } from '../../testbed/waiting.ts';
import { redisNode } from '../redis-node.ts';

let server: RedisServer;
beforeEach(async () => {
  forgetShardCount();
  server = await startRedisServer();
});
afterEach(async () => {
  await server.stop();
});

test('the first node decides the number of shards, and later ones read it from the data', async () => {
  const first = await redisNode({ redisUrl: server.url, shards: 1_024 });
  assert.equal(first.node.shards().filter(({ isMine }) => isMine).length, 1_024);
  assert.ok(
    Array.from({ length: 100 }, (_, index) => shardOf(`tenant ${index}`)).some((shard) => shard >= 128),
  );
  const secondNode = await redisNode({ redisUrl: server.url, nodeId: 'b' });
  await eventually(() => secondNode.node.shards().filter(({ isMine }) => isMine).length === 512);
  assert.equal(shardCount(), 1_024);
  await assert.rejects(
    redisNode({ redisUrl: server.url, nodeId: 'c', shards: 256 }),
    /^Error: SHARDS is 256, but the data in this Redis has 1024 shards, which cannot change: set SHARDS=1024, or leave it out$/,
  );
  await Promise.all([first.node.stop(), secondNode.node.stop()]);
});

test('without a choice there are 128 shards, and no other number can be chosen later', async () => {
  const { node } = await redisNode({ redisUrl: server.url });
  assert.equal(node.shards().length, 128);
  await node.stop();
  await assert.rejects(
    redisNode({ redisUrl: server.url, shards: 512 }),
    /the data in this Redis has 128 shards/,
  );
});

test('data from before the number was stored has 128 shards', async () => {
  const { node } = await redisNode({ redisUrl: server.url });
  await node.stop();
  const redis = new Redis(server.url);
  await redis.del('{runtime}:shards');
  redis.disconnect();
  await assert.rejects(
    redisNode({ redisUrl: server.url, shards: 512 }),
    /the data in this Redis has 128 shards/,
  );
  const secondNode = await redisNode({ redisUrl: server.url, shards: 128 });
  assert.equal(secondNode.node.shards().length, 128);
  await secondNode.node.stop();
});

test('one of two nodes that start on an empty Redis at once with different numbers is refused', async () => {
  const starts = await Promise.allSettled(
    [256, 512].map((shards) => redisNode({ redisUrl: server.url, nodeId: `node-${shards}`, shards })),
  );
  const startedNodes = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
  assert.equal(startedNodes.length, 1);
  await Promise.all(startedNodes.map(({ node }) => node.stop()));
});

test('a process that has made addresses takes no other number', () => {
  setShardCount(512);
  setShardCount(1_024);
  const shard = shardOf('tenant');
  setShardCount(1_024);
  assert.throws(() => setShardCount(512), /has made addresses of 1024 shards, so it cannot work with 512/);
  assert.equal(shardOf('tenant'), shard);
});
