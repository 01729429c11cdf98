import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Redis } from 'ioredis';
import { redisLink } from '../e2e/stack/redis-link.ts';
import { startRedisServer } from '../testbed/redis-server.ts';
import { until } from '../testbed/waiting.ts';

test('one direction is lost on present and on new connections, until it is mended', async (context) => {
  const server = await startRedisServer();
  const [link, whole] = await Promise.all([redisLink(server.socketPath), redisLink(server.socketPath)]);
  const direct = new Redis(server.url);
  const through = (): Redis => new Redis(link.url, { maxRetriesPerRequest: 0, retryStrategy: null });
  const first = through();
  const clients = [first];
  context.after(async () => {
    for (const client of [...clients, direct]) client.disconnect();
    await Promise.all([link.close(), whole.close()]);
    await server.stop();
  });
  await first.ping();
  for (const [direction, isHeard] of [
    ['muteAnswers', true],
    ['muteCommands', false],
  ] as const) {
    link[direction]();
    const secondRedis = through();
    clients.push(secondRedis);
    let answers = 0;
    const asked = [first, secondRedis].map((client, index) =>
      client.set(`${direction} ${index}`, 'said').then(() => {
        answers += 1;
      }),
    );
    if (isHeard) await until('Redis hears it', async () => (await direct.get(`${direction} 0`)) === 'said');
    // A whole connection that is made later has its answer.
    const laterRedis = new Redis(whole.url);
    clients.push(laterRedis);
    await laterRedis.set('later', 'said');
    assert.equal(answers, 0);
    // The new connection asks its question when its greeting is answered.
    assert.equal(await direct.exists(`${direction} ${isHeard ? 1 : 0}`), 0);
    link.mend();
    await Promise.all(asked);
    assert.equal(answers, 2);
  }
});

test('after a lost answer the line delivers no other, because it would be taken for the lost one', async (context) => {
  const server = await startRedisServer();
  const link = await redisLink(server.socketPath);
  const direct = new Redis(server.url);
  const client = new Redis(link.url, { maxRetriesPerRequest: 0, retryStrategy: null });
  client.on('error', () => undefined);
  context.after(async () => {
    client.disconnect();
    direct.disconnect();
    await link.close();
    await server.stop();
  });
  await direct.set('known', 'of another question');
  const first = client.blpop('list', 0);
  await until('it waits', async () => /^blocked_clients:1\r$/m.test(await direct.info('clients')));
  link.hold();
  await direct.rpush('list', 'lost');
  const second = client.get('known').catch(() => undefined);
  await until('it is kept', async () => link.keeps('known'));
  const unanswered = assert.rejects(first);
  await link.release();
  await unanswered;
  assert.equal(await second, undefined);
});
