import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { type Clock, systemClock } from '../../../../runtime/clock.ts';
import { HOUR_MS, MINUTE_MS } from '../../../../runtime/durations.ts';
import { descriptorLimit } from '../../../testbed/descriptor-limit.ts';
import { allReady, SCRIPTED, startPool } from './observed-pool.ts';

test('a worker that throws, exits, hangs or fills its heap is replaced, alone, after its last reports', async (context) => {
  const observed = startPool(2, {
    supervision: { heartbeatMs: 50, heartbeatDeadlineMs: 8_000, heapMib: 64 },
  });
  const { pool, story, until } = observed;
  context.after(() => pool.stop());
  await allReady(observed, 2);
  const ends = {
    throw: /lost: Error at .*scripted-worker/,
    exit: /exited with 3/,
    hang: /it hung/,
    eat: /lost: Error ERR_WORKER_OUT_OF_MEMORY/,
  };
  for (const [word, detail] of Object.entries(ends)) {
    story.length = 0;
    assert.equal(pool.post(0, { kind: 'close', shopId: word }), true);
    await until(() => story.some((line) => line.startsWith('0 lost')));
    assert.equal(story[0], `0: heard ${word}`, 'its last words come before its loss');
    assert.match(story[1] ?? '', detail);
    assert.deepEqual(pool.readyWorkers(), [1], 'the other one is untouched');
    assert.equal(pool.post(0, { kind: 'close', shopId: 'nobody' }), false);
    await allReady(observed, 2);
    pool.post(0, { kind: 'close', shopId: 'work' });
    await until(() => story.includes('0: heard work'));
  }
});

test('a worker keeps its small space for young objects beside a main thread with a large one', async (context) => {
  setFlagsFromString('--max-semi-space-size=64');
  const observed = startPool(1);
  const { pool, story, until } = observed;
  context.after(() => pool.stop());
  await allReady(observed, 1);
  pool.post(0, { kind: 'close', shopId: 'young' });
  await until(() => story.some((line) => line.endsWith(' MiB')));
  assert.equal(story.at(-1), '0: 32 MiB');
});

test('each time without any ready worker is reported as unreachable', async (context) => {
  const observed = startPool(1, { supervision: { unreachableAfterMs: 50, restartDelayMs: 600 } });
  const { pool, story, until } = observed;
  context.after(() => pool.stop());
  for (let time = 1; time <= 2; time += 1) {
    await allReady(observed, 1);
    story.length = 0;
    pool.post(0, { kind: 'close', shopId: 'exit' });
    await until(() => story.includes('unreachable'));
    assert.deepEqual(story, ['0: heard exit', '0 lost: it exited with 3', 'unreachable']);
  }
});

test('workers that start and are lost again and again do not put off that the component is unreachable', async (context) => {
  const { pool, story, until } = startPool(1, {
    supervision: { unreachableAfterMs: 1_500 },
    entry: () => new URL('data:text/javascript,process.exit(3)'),
  });
  context.after(() => pool.stop());
  await until(() => story.includes('unreachable'));
});

test('a worker does not count as hung if the main thread was blocked', async (context) => {
  let aheadMs = 0;
  const beats = new EventEmitter();
  const heartbeatMs = 50;
  // Before each check of the heartbeat, the clock moves on by an hour. The worker has answered by then.
  const clock: Clock = {
    wallMs: () => systemClock.wallMs() + aheadMs,
    monotonicMs: () => systemClock.monotonicMs() + aheadMs,
    after: (delayMs, act) =>
      systemClock.after(delayMs, () => {
        if (delayMs === heartbeatMs) aheadMs += HOUR_MS;
        act();
        beats.emit('beat');
      }),
  };
  const observed = startPool(1, { supervision: { heartbeatMs, heartbeatDeadlineMs: MINUTE_MS }, clock });
  const { pool, story } = observed;
  // The timers of the pool do not keep the process alive.
  const keptTimeout = setInterval(() => undefined, 1_000);
  context.after(async () => {
    clearInterval(keptTimeout);
    await pool.stop();
  });
  await allReady(observed, 1);
  for (let seen = 0; seen < 3; seen += 1) await once(beats, 'beat');
  assert.deepEqual(story, []);
  pool.post(0, { kind: 'close', shopId: 'work' });
  await observed.until(() => story.length > 0);
  assert.deepEqual(story, ['0: heard work']);
});

test('a thread that the system does not give is a loss, and is asked for again', async (context) => {
  let starts = 0;
  const observed = startPool(1, {
    // The constructor throws for this scheme, as it does if there are too many threads.
    entry: () => (++starts === 2 ? new URL('http://127.0.0.1/') : SCRIPTED),
  });
  const { pool, story, until } = observed;
  context.after(() => pool.stop());
  await allReady(observed, 1);
  pool.post(0, { kind: 'close', shopId: 'exit' });
  await until(() => story.filter((line) => line.startsWith('0 lost')).length === 2);
  await allReady(observed, 1);
  assert.equal(pool.losses(), 2);
});

test('a worker without descriptors is a loss, and starts once there are some', async (context) => {
  const observed = startPool(1, { supervision: { longestRestartDelayMs: 100 } });
  const { pool, story, until } = observed;
  const limit = await descriptorLimit(process.pid);
  context.after(async () => {
    await limit.close();
    await pool.stop();
  });
  await allReady(observed, 1);
  // The limit is 20 below the descriptors in use, because the worker that ends frees some.
  await limit.leave(-20);
  pool.post(0, { kind: 'close', shopId: 'exit' });
  await until(() => story.filter((line) => line.includes('EMFILE')).length > 2);
  await limit.restore();
  await allReady(observed, 1);
});

test('a stopped pool reports no losses and starts no worker', async () => {
  const observed = startPool(2);
  const { pool, story } = observed;
  await allReady(observed, 2);
  await pool.stop();
  assert.deepEqual([story, pool.readyWorkers()], [[], []]);
  await pool.stop();
});
