/** Parts that tests start together are stopped together, also if one of them does not start. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Redis } from 'ioredis';
import { startParts } from '../../testbed/started-parts.ts';
import { startMemoryStack } from '../stack/memory-stack.ts';

test('parts are stopped in reverse order, all of them, and the failure of the start is reported', async () => {
  const stopped: string[] = [];
  const starting = startParts(async (parts) => {
    parts.add(() => stopped.push('first'));
    parts.add(() => Promise.reject(new Error('it cannot be stopped')));
    parts.add(() => stopped.push('last'));
    throw new Error('it does not start');
  });
  await assert.rejects(starting, /it does not start/);
  assert.deepEqual(stopped, ['last', 'first']);
});

test('parts are stopped once, and a part that cannot be stopped is reported', async () => {
  let stops = 0;
  const stop = await startParts(async (parts) => {
    parts.add(() => {
      stops += 1;
      throw new Error('it cannot be stopped');
    });
    return parts.stop;
  });
  await assert.rejects(stop, /cannot be stopped/);
  await stop();
  assert.equal(stops, 1);
});

test('a stack that does not start leaves no Redis', async () => {
  let pid = 0;
  const starting = startMemoryStack({}, async (redisUrl) => {
    const redis = new Redis(redisUrl);
    pid = Number(/^process_id:(\d+)/m.exec(await redis.info('server'))?.[1]);
    redis.disconnect();
    throw new Error('there is nothing to prepare');
  });
  await assert.rejects(starting, /nothing to prepare/);
  assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
});
