import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { shardKey } from '../../runtime/address.ts';
import { systemClock } from '../../runtime/clock.ts';
import { MINUTE_MS } from '../../runtime/durations.ts';
import { readLuaScript } from '../../runtime/lua-script.ts';
import { RedisEngine } from '../../runtime/redis/redis-engine.ts';
import { QuietLog } from '../testbed/quiet-log.ts';
import { startRedisServer } from '../testbed/redis-server.ts';
import { root } from '../testbed/root.ts';
import { sharedRedis } from '../testbed/shared-redis.ts';
import { eventually } from '../testbed/waiting.ts';
import { counterAddress, counterKey } from './counter-behaviour.ts';
import { redisNode, redisProxy } from './redis-node.ts';

const firstAddress = counterAddress('one');
const add = (amount: number) => ({ type: 'add', by: amount }) as const;

const { redis, url: redisUrl } = sharedRedis();

test('a single node owns every shard, keeps its commits, and leaves nothing claimed when it stops', async () => {
  const { node } = await redisNode({ redisUrl });
  assert.equal(node.shards().filter(({ isMine }) => isMine).length, 128);
  assert.equal(await node.actors.ask(firstAddress, add(2)), 2);
  assert.equal(await redis.hget(counterKey('one'), 'total'), '2');
  const [total] = await node.store.read([['HGET', counterKey('one'), 'total']]);
  assert.equal(total, '2');
  await node.stop();
  assert.match((await redis.get(shardKey(firstAddress.shard, 'owner'))) ?? '', /^- /);
  assert.equal(await redis.exists('{runtime}:lease:a'), 0);
});

test('a process that starts under a name supersedes the one that had it, in well under a second', async () => {
  const performed: number[] = [];
  const first = await redisNode({
    redisUrl,
    hooks: { performed: ({ total }) => void performed.push(total) },
    limits: { renewEveryMs: MINUTE_MS },
  });
  const total = (await first.node.actors.ask(firstAddress, add(1))) as number;
  performed.length = 0;
  const startedMs = performance.now();
  const secondNode = await redisNode({ redisUrl });
  assert.equal(await secondNode.node.actors.ask(firstAddress, add(1)), total + 1);
  assert.ok(performance.now() - startedMs < 1_000, 'it waited for the old lease');
  // The first node still believes in its lease. A check of the shards or the fence stops it, and no effect follows.
  await assert.rejects(first.node.actors.ask(firstAddress, add(100)), { code: 'SHARD_NOT_OWNED' });
  assert.deepEqual(performed, []);
  assert.equal(await secondNode.node.actors.ask(firstAddress, { type: 'read' }), total + 1);
  await secondNode.node.stop();
  await first.node.stop();
});

test('a claim that names an earlier or a later epoch does not get the shard', async () => {
  const log = new QuietLog();
  const engine = await RedisEngine.connect(redisUrl, { log, clock: systemClock, answerMs: 10_000 });
  const { epoch = 0 } = (await engine.records())[5] ?? {};
  const { record } = await engine.changeOwner(5, epoch, 'x:1');
  assert.deepEqual([record.owner, record.epoch], ['x:1', epoch + 1]);
  assert.deepEqual(await engine.changeOwner(5, epoch, 'y:1'), { isChanged: false, record });
  assert.deepEqual(await engine.changeOwner(5, epoch + 2, 'y:1'), { isChanged: false, record });
  assert.equal((await engine.changeOwner(5, epoch + 1, undefined)).isChanged, true);
  await engine.close();
});

test('a superseded node is notified, and has stopped its actors', async () => {
  const stopped: string[] = [];
  const first = await redisNode({
    redisUrl,
    hooks: { deactivated: (_address, reason) => void stopped.push(reason) },
    limits: { renewEveryMs: 50 },
  });
  await first.node.actors.ask(firstAddress, { type: 'read' });
  const secondNode = await redisNode({ redisUrl });
  await first.lost;
  assert.deepEqual(stopped, ['lost']);
  await secondNode.node.stop();
});

test('a late registration of a killed process, after its successor’s, changes nothing', async () => {
  // The killed node took its ticket. Its later calls are still on their way.
  const ticket = await redis.incr('{runtime}:tickets');
  const { source } = readLuaScript(pathToFileURL(join(root, 'runtime/redis/register-node.lua')));
  const { node } = await redisNode({ redisUrl, limits: { renewEveryMs: 50 } });
  const { incarnation } = node;
  const keys = ['{runtime}:nodes', '{runtime}:lease:a', '{runtime}:ticket:a'];
  const arrives = () => redis.eval(source, keys.length, ...keys, 'a', 'a:killed', 15_000, ticket);
  assert.equal(await arrives(), 0);
  assert.equal(await redis.get('{runtime}:lease:a'), incarnation);
  // The late calls also change nothing if the successor has just lost its lease. It must not find the other name.
  await redis.del('{runtime}:lease:a');
  assert.equal(await arrives(), 0);
  await eventually(() => node.incarnation !== incarnation);
  await eventually(async () => (await redis.get('{runtime}:lease:a')) === node.incarnation);
  await eventually(() => node.actors.owns(firstAddress.shard));
  assert.equal(typeof (await node.actors.ask(firstAddress, { type: 'read' })), 'number');
  await node.stop();
});

test('turns of one tick go to Redis as one script call', async () => {
  const { node } = await redisNode({ redisUrl });
  const names = Array.from({ length: 100 }, (_, index) => `tick-${index}`);
  await Promise.all(names.map((name) => node.actors.ask(counterAddress(name), add(1))));
  const calls = async (): Promise<number> =>
    Number(/cmdstat_evalsha:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1]);
  const before = await calls();
  await Promise.all(names.map((name) => node.actors.ask(counterAddress(name), add(1))));
  assert.ok((await calls()) - before <= 3, 'one group of commits, and perhaps a heartbeat');
  await node.stop();
});

test('a full Redis refuses all commits of a group in a clear sentence, and takes them when there is space', async () => {
  const { node, log } = await redisNode({ redisUrl, limits: { memoryShare: 100 } });
  await node.actors.ask(firstAddress, add(1));
  const total = await redis.hget(counterKey('one'), 'total');
  await redis.config('SET', 'maxmemory', '1mb');
  await assert.rejects(node.actors.ask(firstAddress, add(1)), { code: 'STORE_UNAVAILABLE', message: /full/ });
  assert.equal(await redis.hget(counterKey('one'), 'total'), total, 'something was applied');
  assert.ok(log.errors.some((message) => message.includes('Redis is full (maxmemory)')));
  await redis.config('SET', 'maxmemory', '0');
  assert.equal(await node.actors.ask(firstAddress, add(1)), Number(total) + 1);
  await node.stop();
});

test('a full Redis lets nodes come and go: one starts, takes every shard, and leaves nothing claimed', async () => {
  await redis.config('SET', 'maxmemory', '1mb');
  const { node } = await redisNode({ redisUrl, limits: { memoryShare: 100 } });
  assert.equal(node.shards().filter(({ isMine }) => isMine).length, 128);
  await node.stop();
  assert.match((await redis.get(shardKey(firstAddress.shard, 'owner'))) ?? '', /^- /);
  await redis.config('SET', 'maxmemory', '0');
});

test('the return of commits is logged when one was taken, not when the connection broke meanwhile', async () => {
  const proxy = await redisProxy(redisUrl);
  const { node, log } = await redisNode({
    redisUrl: proxy.url,
    limits: { memoryShare: 100, leaseMs: MINUTE_MS },
  });
  const again = () => log.infos.filter((message) => message === 'Redis accepts commits again').length;
  await node.actors.ask(firstAddress, add(1));
  await redis.config('SET', 'maxmemory', '1mb');
  await assert.rejects(node.actors.ask(firstAddress, add(1)), { code: 'STORE_UNAVAILABLE', message: /full/ });
  proxy.break();
  await eventually(() => !node.isReady());
  await assert.rejects(node.actors.ask(firstAddress, add(1)), { code: 'STORE_UNAVAILABLE' });
  assert.equal(again(), 0);
  await redis.config('SET', 'maxmemory', '0');
  proxy.mend();
  await eventually(() => node.isReady());
  await node.actors.ask(firstAddress, add(1));
  assert.deepEqual([again(), log.errors.filter((message) => message.includes('full')).length], [1, 1]);
  await node.stop();
  await proxy.stop();
});

test('a read-only replica refuses commits with a clear error', async () => {
  const { node, log } = await redisNode({ redisUrl });
  await node.actors.ask(firstAddress, add(1));
  await redis.replicaof('127.0.0.1', 1);
  await assert.rejects(node.actors.ask(firstAddress, add(1)), {
    code: 'STORE_UNAVAILABLE',
    message: /read-only/,
  });
  assert.ok(log.errors.some((message) => message.includes('read-only replica')));
  await redis.replicaof('NO', 'ONE');
  await node.actors.ask(firstAddress, add(1));
  await node.stop();
});

test('a commit whose answer was cut off is settled by revision, and the actor continues', async () => {
  const proxy = await redisProxy(redisUrl);
  const { node } = await redisNode({ redisUrl: proxy.url, limits: { answerMs: MINUTE_MS } });
  const before = (await node.actors.ask(firstAddress, add(1))) as number;
  proxy.holdAnswers();
  const asked = node.actors.ask(firstAddress, add(10));
  const committed = async (): Promise<boolean> =>
    (await redis.hget(counterKey('one'), 'total')) === String(before + 10);
  while (!(await committed())) await nextTurn();
  proxy.cut();
  await assert.rejects(asked, { code: 'OUTCOME_UNKNOWN' });
  let total: unknown;
  await eventually(() => {
    node.actors.ask(firstAddress, { type: 'read' }).then(
      (reply) => {
        total = reply;
      },
      () => undefined,
    );
    return total !== undefined;
  });
  assert.equal(total, before + 10, 'it was committed, so it counts');
  await node.stop();
  await proxy.stop();
});

test('a call without Redis gets STORE_UNAVAILABLE at once, and everything recovers by itself', async () => {
  const stopped: string[] = [];
  const proxy = await redisProxy(redisUrl);
  const { node } = await redisNode({
    redisUrl: proxy.url,
    limits: { leaseMs: 400, renewEveryMs: 100 },
    hooks: { deactivated: (_address, reason) => void stopped.push(reason) },
  });
  const before = (await node.actors.ask(firstAddress, add(1))) as number;
  const name = node.incarnation;
  proxy.break();
  await eventually(() => !node.isReady());
  const startedMs = performance.now();
  await assert.rejects(node.actors.ask(firstAddress, add(1)), { code: 'STORE_UNAVAILABLE' });
  await assert.rejects(node.actors.ask(counterAddress('cold'), add(1)), { code: 'STORE_UNAVAILABLE' });
  assert.ok(performance.now() - startedMs < 100, 'it waited');
  await eventually(() => node.leaseMarginMs() === 0);
  // Redis has ended the lease too. The node comes back under a new name and finds its shards still free.
  await eventually(async () => (await redis.exists('{runtime}:lease:a')) === 0);
  proxy.mend();
  await eventually(() => node.isReady() && node.incarnation !== name && node.actors.owns(firstAddress.shard));
  assert.equal(await node.actors.ask(firstAddress, add(1)), before + 1);
  assert.deepEqual(stopped, [], 'its actors, and so their sessions, were kept');
  await node.stop();
  await proxy.stop();
});

test('a Redis that was restarted knows the scripts again, and nothing is lost', async () => {
  const ownServer = await startRedisServer({ appendfsync: 'always' });
  const { node } = await redisNode({ redisUrl: ownServer.url });
  assert.equal(await node.actors.ask(firstAddress, add(1)), 1);
  await ownServer.kill();
  await ownServer.restart();
  await eventually(() => node.isReady());
  let total: unknown;
  await eventually(() => {
    node.actors.ask(firstAddress, { type: 'read' }).then(
      (reply) => {
        total = reply;
      },
      () => undefined,
    );
    return total !== undefined;
  });
  assert.equal(total, 1);
  assert.equal(await node.actors.ask(firstAddress, add(1)), 2);
  await node.stop();
  await ownServer.stop();
});

test('data that went back in time is noticed and logged, and nothing is written over it', async () => {
  const { node, log } = await redisNode({ redisUrl });
  const total = (await node.actors.ask(firstAddress, add(1))) as number;
  const key = shardKey(firstAddress.shard, 'owner');
  const [owner, epoch, revision, wallMs] = ((await redis.get(key)) ?? '').split(' ');
  await redis.set(key, `${owner} ${epoch} ${Number(revision) - 1} ${wallMs}`);
  await assert.rejects(node.actors.ask(firstAddress, add(1)), { code: 'SHARD_NOT_OWNED' });
  assert.ok(log.errors.some((message) => message.includes('older revision')));
  await eventually(() => node.actors.owns(firstAddress.shard));
  assert.equal(await node.actors.ask(firstAddress, { type: 'read' }), total);
  await node.stop();
});
