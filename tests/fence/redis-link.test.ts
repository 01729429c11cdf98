import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Redis } from 'ioredis';
import { redisLink } from '../e2e/redis-link.ts';
import { until } from '../e2e/waiting.ts';
import { startRedisServer } from '../redis-server.ts';

test('a line that lost an answer gives no other: it would be taken for the one that was lost', async () => {
  const server = await startRedisServer();
  const link = await redisLink(server.socketPath);
  const direct = new Redis(server.url);
  const client = new Redis(link.url, { maxRetriesPerRequest: 0, retryStrategy: null });
  client.on('error', () => undefined);
  try {
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
  } finally {
    client.disconnect();
    direct.disconnect();
    await link.close();
    await server.stop();
  }
});
