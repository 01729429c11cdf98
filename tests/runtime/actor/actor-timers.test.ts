/** The moments that one actor waits for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ActorTimers } from '../../../runtime/actor/actor-timers.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { HOUR_MS, MINUTE_MS } from '../../../runtime/durations.ts';
import { SteppedClock } from '../../../runtime/stepped-clock.ts';
import { FakeClock } from '../../testbed/fake-clock.ts';

/** Returns an actor's timers on a fake clock, their calls, and how often a timer was armed. */
function world() {
  const clock = new FakeClock();
  const told: string[] = [];
  let armed = 0;
  const counting: Clock = {
    wallMs: () => clock.wallMs(),
    monotonicMs: () => clock.monotonicMs(),
    after(delayMs, callback) {
      armed += 1;
      return clock.after(delayMs, callback);
    },
  };
  const startMs = clock.wallMs();
  const timers = new ActorTimers(counting, {
    timerDue: (id) => void told.push(`${id} ${clock.wallMs() - startMs}`),
  });
  const timerAt = (id: string, afterMs: number) => ({ id, dueAtMs: startMs + afterMs });
  return { clock, timers, told, at: timerAt, armed: () => armed };
}

test('a moment replaced by a later one arms nothing, and the later one fires at its time, once', async () => {
  const { clock, timers, told, at, armed } = world();
  for (let step = 0; step < 5; step += 1) {
    timers.update([at('pacing', 1_000 + step)]);
    await clock.advance(1);
  }
  assert.equal(armed(), 1);
  await clock.advance(10_000);
  assert.deepEqual(told, ['pacing 1004']);
  timers.update([at('pacing', 1_004)]);
  await clock.advance(10_000);
  assert.deepEqual(told, ['pacing 1004']);
});

test('a moment replaced by an earlier one fires at the earlier', async () => {
  const { clock, timers, told, at } = world();
  timers.update([at('pacing', 30_000), at('waiting', 5_000)]);
  timers.update([at('pacing', 2_000), at('waiting', 5_000)]);
  await clock.advance(40_000);
  assert.deepEqual(told, ['pacing 2000', 'waiting 5000']);
});

test('a moment fires again if the state named another one meanwhile; none once it names none', async () => {
  const { clock, timers, told, at } = world();
  timers.update([at('a', 10)]);
  await clock.advance(20);
  timers.update([at('a', 15)]);
  timers.update([at('a', 10)]);
  await clock.advance(20);
  assert.deepEqual(told, ['a 10', 'a 20']);
  timers.update([at('a', 90)]);
  timers.update([]);
  await clock.advance(200);
  timers.update([at('a', 300)]);
  timers.cancel();
  await clock.advance(200);
  assert.deepEqual(told, ['a 10', 'a 20']);
});

test('a step of the wall clock ends no wait that must last: the monotonic clock ends it', async () => {
  const clock = new FakeClock();
  const stepped = new SteppedClock(clock, 5, queueMicrotask);
  const told: string[] = [];
  const timers = new ActorTimers(stepped, { timerDue: (id) => void told.push(id) });
  const inMs = (id: string, afterMs: number) => ({ id, dueAtMs: clock.wallMs() + afterMs });
  const due = [{ ...inMs('outcome', 3 * MINUTE_MS), leastMs: 2 * MINUTE_MS }, inMs('retry', 15 * MINUTE_MS)];
  timers.update(due);
  await clock.advance(20_000);
  clock.stepWall(HOUR_MS);
  stepped.fireAll();
  await clock.advance(10);
  assert.deepEqual(told, ['retry']);
  timers.update([...due, inMs('another', 90_000_000)]);
  await clock.advance(99_900);
  assert.deepEqual(told, ['retry']);
  await clock.advance(100);
  assert.deepEqual(told, ['retry', 'outcome']);
});

test('a wait that must last ends by the wall clock if that comes later', async () => {
  const { clock, timers, told, at } = world();
  timers.update([{ ...at('outcome', 3 * MINUTE_MS), leastMs: 2 * MINUTE_MS }]);
  await clock.advance(200_000);
  assert.deepEqual(told, ['outcome 180000']);
});
