import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_WORKER_SUPERVISION } from '../../../../actors/sessions/main-thread/worker-pool.ts';
import { type Clock, systemClock } from '../../../../runtime/clock.ts';
import { allReady, SCRIPTED, startPool } from './observed-pool.ts';

/** The waits before restarts, which a test ends by hand. */
interface Restarts {
  readonly clock: Clock;
  /** The waits before restarts, in milliseconds. */
  readonly waits: readonly number[];
  /** Ends the oldest wait. */
  next(): void;
}

/** Restarts wait at most this long, and every other wait of the pool is longer. */
const LONGEST_RESTART_MS = 400;

/** A clock on which a lost worker starts again when the test says so. */
function restartsByHand(): Restarts {
  const waits: number[] = [];
  const due = new Set<() => void>();
  return {
    waits,
    clock: {
      ...systemClock,
      after(delayMs, act) {
        if (delayMs > LONGEST_RESTART_MS) return systemClock.after(delayMs, act);
        waits.push(delayMs);
        due.add(act);
        return { cancel: () => void due.delete(act) };
      },
    },
    next() {
      const [act] = due;
      assert.ok(act !== undefined, 'no worker waits for its restart');
      due.delete(act);
      act();
    },
  };
}

test('a worker that is lost often waits longer, up to a bound, and the others go on', async (context) => {
  let isMended = true;
  const { clock, waits, next } = restartsByHand();
  const observed = startPool(2, {
    clock,
    supervision: { restartDelayMs: 100, longestRestartDelayMs: LONGEST_RESTART_MS },
    entry: () => (isMended ? SCRIPTED : new URL('http://127.0.0.1/')),
  });
  const { pool, story, until } = observed;
  context.after(() => pool.stop());
  await allReady(observed, 2);
  isMended = false;
  pool.post(0, { kind: 'close', shopId: 'exit' });
  await until(() => waits.length === 1);
  for (let lost = 0; lost < 9; lost += 1) next();
  assert.deepEqual(waits, [100, 200, ...Array.from({ length: 8 }, () => LONGEST_RESTART_MS)]);
  assert.deepEqual(pool.readyWorkers(), [1]);
  assert.ok(!story.includes('unreachable'), story.join(', '));
  isMended = true;
  next();
  await allReady(observed, 2);
});

test('losses long ago do not count', async (context) => {
  let aheadMs = 0;
  const { clock, waits, next } = restartsByHand();
  const laterClock: Clock = { ...clock, monotonicMs: () => clock.monotonicMs() + aheadMs };
  const observed = startPool(1, {
    clock: laterClock,
    supervision: { restartDelayMs: 100, longestRestartDelayMs: LONGEST_RESTART_MS },
  });
  const { pool, until } = observed;
  context.after(() => pool.stop());
  for (const lost of [1, 2, 3]) {
    await allReady(observed, 1);
    if (lost === 3) aheadMs = DEFAULT_WORKER_SUPERVISION.lossWindowMs;
    pool.post(0, { kind: 'close', shopId: 'exit' });
    await until(() => waits.length === lost);
    next();
  }
  assert.deepEqual(waits, [100, 200, 100]);
});

test('if all workers are lost, they start again together, and sessions wait until both can share them', async (context) => {
  let starts = 0;
  const { clock, waits, next } = restartsByHand();
  const observed = startPool(2, {
    clock,
    supervision: { longestRestartDelayMs: LONGEST_RESTART_MS },
    // The second one to start again is never ready.
    entry: () => (++starts === 4 ? new URL('data:text/javascript,setInterval(() => 0, 1000)') : SCRIPTED),
  });
  const { pool, until } = observed;
  context.after(() => pool.stop());
  await allReady(observed, 2);
  assert.equal(pool.isStarting(), false);
  for (const worker of [0, 1]) pool.post(worker, { kind: 'close', shopId: 'exit' });
  await until(() => waits.length === 2);
  next();
  await allReady(observed, 1);
  assert.equal(starts, 4);
  assert.equal(pool.isStarting(), true);
});

test('by default a lost worker restarts after 0.2 to 10 s, and a minute without any is reported', async (context) => {
  const waits: { readonly delayMs: number; readonly act: () => void }[] = [];
  let isLost = false;
  const observed = startPool(1, {
    clock: {
      ...systemClock,
      after(delayMs, act) {
        if (!isLost) return systemClock.after(delayMs, act);
        waits.push({ delayMs, act });
        return { cancel: () => undefined };
      },
    },
    supervision: { restartDelayMs: DEFAULT_WORKER_SUPERVISION.restartDelayMs },
    entry: () => (isLost ? new URL('http://127.0.0.1/') : SCRIPTED),
    onLost: () => {
      isLost = true;
    },
  });
  const { pool, until } = observed;
  context.after(() => pool.stop());
  await allReady(observed, 1);
  pool.post(0, { kind: 'close', shopId: 'exit' });
  await until(() => isLost);
  for (let lost = 1; lost < 8; lost += 1) waits.at(-1)?.act();
  assert.deepEqual(
    waits.map(({ delayMs }) => delayMs),
    [60_000, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000],
  );
});
