/** A node that loses its lease several times listens under few of its names, and misses no reply. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_LIMITS } from '../../../runtime/limits.ts';
import { RedisLink } from '../../../runtime/node/node-link.ts';
import { runtimeCounters } from '../../../runtime/observer.ts';
import { OwnershipView } from '../../../runtime/ownership/ownership-view.ts';
import { deferred } from '../../testbed/deferred.ts';
import { FakeClock } from '../../testbed/fake-clock.ts';
import { QuietLog } from '../../testbed/quiet-log.ts';
import { MemoryEngine } from '../memory-engine.ts';
import { MemoryRedis } from '../memory-redis.ts';
import { TEST_CIPHERS } from '../test-ciphers.ts';

/** Returns two links over one Redis, and the names that have a listener. */
function twoLinks() {
  const clock = new FakeClock();
  const redis = new MemoryRedis(clock);
  const view = new OwnershipView(1, clock, DEFAULT_LIMITS);
  view.replace([{ nodeId: 'b', incarnation: 'b:1' }], []);
  const link = (nodeId: string) =>
    new RedisLink({
      engine: new MemoryEngine(redis, { clock }),
      clock,
      log: new QuietLog(),
      counters: runtimeCounters(),
      view,
      nodeId,
      cipher: TEST_CIPHERS.linkCipher,
      onMissed: () => undefined,
    });
  const names = (): readonly string[] =>
    [...redis.listeners].flatMap(([channel, { size }]) =>
      size > 0 ? [channel.replace('{runtime}:link-2:', '')] : [],
    );
  return { a: link('a'), b: link('b'), clock, names };
}

test('a node listens under its name and the one before, and has left all earlier ones', async () => {
  const { a, names } = twoLinks();
  for (const name of ['a:1', 'a:2', 'a:3', 'a:4', 'a:4', 'a:4']) await a.listen(name);
  assert.deepEqual(names(), ['a:3', 'a:4']);
});

test('a name is left only when no reply is awaited under it', async () => {
  const { a, b, clock, names } = twoLinks();
  const { promise: released, resolve: release } = deferred();
  b.serve(async (payload) => {
    await released;
    return `answer to ${payload}`;
  });
  await b.listen('b:1');
  await a.listen('a:1');
  const asked = a.call('b', 'question', 60_000);
  for (const name of ['a:2', 'a:3', 'a:4']) await a.listen(name);
  assert.deepEqual(names(), ['b:1', 'a:1', 'a:3', 'a:4']);
  await clock.advance(10);
  release();
  await clock.advance(10);
  assert.equal(await asked, 'answer to question');
  await a.listen('a:5');
  assert.deepEqual(names(), ['b:1', 'a:4', 'a:5']);
});
