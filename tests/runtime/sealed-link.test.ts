/** What nodes say to each other is read and forged by nobody who only has Redis. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { Redis } from 'ioredis';
import { sealedLink } from '../../runtime/node/sealed-link.ts';
import { startRedisServer } from '../redis-server.ts';
import { eventually, redisNode } from './redis-node.ts';

test('no raw key travels over the channels, and a question that was not sealed is answered by nobody', async () => {
  const server = await startRedisServer();
  const redis = new Redis(server.url);
  const heard: string[] = [];
  const spy = new Redis(server.url);
  spy.on('pmessage', (_pattern, _channel, message) => void heard.push(message));
  await spy.psubscribe('*');
  const a = await redisNode({ redisUrl: server.url });
  const b = await redisNode({ redisUrl: server.url, nodeId: 'b' });
  await eventually(() => a.node.nodes().length === 2);
  const secret = randomBytes(32);
  const before = randomBytes(32);
  const asked: string[] = [];
  // The second was given the new secret first, the first has it already and still seals with the old one.
  sealedLink(b.node.link, [secret, before]).serve(async (payload) => {
    asked.push(payload);
    return 'tm_live_rawKeyInTheAnswer';
  });
  const link = sealedLink(a.node.link, [before, secret]);
  assert.equal(await link.call('b', 'a question with tm_live_rawKey', 2_000), 'tm_live_rawKeyInTheAnswer');
  // The spy has a line of its own, which may be slower than the answer.
  await eventually(() => ['ask ', 'answer '].every((verb) => heard.some((said) => said.startsWith(verb))));
  assert.deepEqual(
    heard.filter((message) => message.includes('tm_live_')),
    [],
  );
  const forged = 'ask 1 forger\n{"kind":"operator"}';
  await redis.publish(`{runtime}:node:${b.node.incarnation}`, forged);
  await eventually(() => heard.some((message) => message.startsWith('failure 1 ')));
  const strange = sealedLink(a.node.link, [randomBytes(32)]);
  await assert.rejects(strange.call('b', 'with another key', 2_000));
  assert.deepEqual(asked, ['a question with tm_live_rawKey']);
  await a.node.stop();
  await b.node.stop();
  spy.disconnect();
  redis.disconnect();
  await server.stop();
});
