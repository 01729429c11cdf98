import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../../runtime/clock.ts';
import { RedisBus } from '../../../runtime/redis/redis-bus.ts';
import { parseRedisAddress } from '../../../runtime/redis-address.ts';
import { startRedisCluster } from '../../e2e/stack/redis-cluster.ts';
import { redisLink } from '../../e2e/stack/redis-link.ts';
import { QuietLog } from '../../testbed/quiet-log.ts';
import { startRedisServer } from '../../testbed/redis-server.ts';
import { sharedRedis } from '../../testbed/shared-redis.ts';
import { eventually, until } from '../../testbed/waiting.ts';
import { counterAddress } from '../counter-behaviour.ts';
import { redisNode } from '../redis-node.ts';

/** The longest delay of an answer on a busy machine. */
const ANSWER_MS = 1_000;

const { redis, url: redisUrl } = sharedRedis();

/** Returns a bus over a URL, and its messages on the channel `news`. */
async function bus(url: string) {
  const heard: string[] = [];
  const log = new QuietLog();
  const madeBus = new RedisBus({
    address: parseRedisAddress(url),
    clock: systemClock,
    log,
    answerMs: ANSWER_MS,
  });
  await madeBus.connect();
  await madeBus.subscribe('news', (message) => void heard.push(message));
  return { bus: madeBus, heard, log };
}

/** Publishes until the message arrives. */
async function untilHeard(heard: readonly string[], message: string): Promise<void> {
  await until(`"${message}" is heard`, async () => {
    await redis.publish('news', message);
    return heard.includes(message);
  });
}

test('a connection that died silently is noticed, and its channels move to another', async () => {
  const link = await redisLink(redisUrl);
  const { bus: ownBus, heard } = await bus(link.url);
  await untilHeard(heard, 'before');
  link.hold();
  const startedMs = performance.now();
  await untilHeard(heard, 'after');
  assert.ok(performance.now() - startedMs > ANSWER_MS / 2, 'the line was not dead');
  ownBus.close();
  await link.close();
});

test('a channel that is left has no listener, on the present connection and on the next', async () => {
  const link = await redisLink(redisUrl);
  const { bus: ownBus, heard } = await bus(link.url);
  const left = async () => (await redis.pubsub('NUMSUB', 'left'))[1];
  await ownBus.subscribe('left', () => undefined);
  assert.equal(await left(), 1);
  ownBus.unsubscribe('left');
  await until('Redis knows it', async () => (await left()) === 0);
  await untilHeard(heard, 'before');
  link.cut();
  await until('it was tried again', async () => link.refused() > 0);
  link.mend();
  await untilHeard(heard, 'after');
  assert.equal(await left(), 0);
  ownBus.close();
  await link.close();
});

test('a quiet bus stays on its connection as long as it answers', async () => {
  const { bus: ownBus, heard } = await bus(redisUrl);
  const names = async () => String(await redis.client('LIST')).match(/id=\d+(?=[^\n]* name=bus)/g);
  const [before] = (await names()) ?? [];
  const pings = async () =>
    Number(/cmdstat_ping:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0);
  const asked = await pings();
  await until('it was asked for signs of life', async () => (await pings()) > asked + 2);
  assert.deepEqual(await names(), [before]);
  await untilHeard(heard, 'still there');
  ownBus.close();
});

test('a server that is gone is replaced by the next, and a failed connection is reported', async () => {
  const otherServer = await startRedisServer({ extraArgs: ['--port', '0'] });
  const link = await redisLink(redisUrl);
  const removedLink = await redisLink(otherServer.socketPath);
  // Two URLs as in a cluster. The first server is there only at the start.
  const { bus: ownBus, heard } = await bus(`${removedLink.url},${link.url}`);
  removedLink.cut();
  await untilHeard(heard, 'from the other');
  link.cut();
  await until('it has no connection', async () => {
    return await ownBus
      .subscribe('more', () => undefined)
      .then(
        () => false,
        ({ code }) => code === 'STORE_UNAVAILABLE',
      );
  });
  link.mend();
  await untilHeard(heard, 'back');
  ownBus.close();
  await Promise.all([link.close(), removedLink.close(), otherServer.stop()]);
});

test('silence is logged once, however often it is tried again, and its end once', async () => {
  const link = await redisLink(redisUrl);
  const { bus: ownBus, heard, log } = await bus(link.url);
  for (const time of [1, 2]) {
    link.cut();
    await until('it is said', async () => log.warnings.length === time);
    const tried = link.refused();
    await until('it was tried again', async () => link.refused() > tried + 2);
    assert.deepEqual([log.warnings.length, log.infos.length], [time, time - 1]);
    link.mend();
    await untilHeard(heard, `back ${time}`);
    assert.deepEqual([log.warnings.length, log.infos.length], [time, time]);
  }
  ownBus.close();
  await link.close();
  assert.equal(log.warnings.length, 2, 'that it is closed is no trouble');
});

test('a cluster that is away for a while is waited for without a warning', async () => {
  const warnings: string[] = [];
  const listen = ({ message }: Error): void => void warnings.push(message);
  process.on('warning', listen);
  const cluster = await startRedisCluster();
  const { node } = await redisNode({ redisUrl: cluster.url });
  const firstAddress = counterAddress('one');
  await eventually(() => node.actors.owns(firstAddress.shard));
  await Promise.all(cluster.masters.map((master) => master.kill()));
  await eventually(() => node.leaseMarginMs() === 0);
  await Promise.all(cluster.masters.map((master) => master.restart()));
  await eventually(() => node.isReady() && node.actors.owns(firstAddress.shard));
  assert.deepEqual(warnings, []);
  process.off('warning', listen);
  await node.stop();
  await cluster.stop();
});
