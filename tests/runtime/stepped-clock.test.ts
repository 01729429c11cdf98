import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ArmedTimer } from '../../runtime/clock.ts';
import { HOUR_MS } from '../../runtime/durations.ts';
import { SteppedClock } from '../../runtime/stepped-clock.ts';
import { FakeClock } from '../testbed/fake-clock.ts';

const STEP_MS = 5;

/** A fake clock with steps over it. It records the time of each call, in milliseconds since the test began. */
function world() {
  const base = new FakeClock();
  const startMs = base.monotonicMs();
  const came: string[] = [];
  let armed = 0;
  const counting = {
    wallMs: () => base.wallMs(),
    monotonicMs: () => base.monotonicMs(),
    after(delayMs: number, callback: () => void): ArmedTimer {
      armed += 1;
      const timer = base.after(delayMs, callback);
      return {
        cancel() {
          armed -= 1;
          timer.cancel();
        },
      };
    },
  };
  const clock = new SteppedClock(counting, STEP_MS, (act) => void base.after(0, act));
  const note = (name: string) => () => void came.push(`${name} ${base.monotonicMs() - startMs}`);
  return { base, clock, came, note, armed: () => armed };
}

test('timers due within a step fire together at its end, in the order in which they were armed, by one timer', async () => {
  const { base, clock, came, note, armed } = world();
  clock.after(4, note('a'));
  clock.after(1, note('b'));
  await base.advance(2);
  clock.after(0, note('c'));
  clock.after(3, note('d'));
  clock.after(4, note('e'));
  assert.equal(armed(), 2);
  await base.advance(10);
  assert.deepEqual(came, ['a 5', 'b 5', 'c 5', 'd 5', 'e 10']);
});

test('when all timers are fired, each fires once, and the timers that they arm fire at their own times', async () => {
  const { base, clock, came, note, armed } = world();
  clock.after(HOUR_MS, () => {
    note('far')();
    clock.after(7, note('again'));
  });
  clock.after(4, note('near'));
  clock.after(20, note('cancelled')).cancel();
  clock.fireAll();
  assert.deepEqual(came, ['far 0', 'near 0']);
  assert.equal(armed(), 1);
  await base.advance(4_000_000);
  assert.deepEqual(came, ['far 0', 'near 0', 'again 10']);
});

test('a timer fires at its time or up to a step later, never before and never at once', async () => {
  const { base, clock } = world();
  for (let delayMs = -1; delayMs < 30; delayMs += 0.7) {
    const dueMs = base.monotonicMs() + Math.max(0, delayMs);
    let atMs: number | undefined;
    clock.after(delayMs, () => {
      atMs = base.monotonicMs();
    });
    assert.equal(atMs, undefined);
    await base.advance(40.3);
    assert.ok(atMs !== undefined && atMs >= dueMs && atMs < dueMs + STEP_MS + 1, `${dueMs}: ${atMs}`);
  }
});

test('a cancelled timer never fires, and the last of a step cancels the timer of the step', async () => {
  const { base, clock, came, note, armed } = world();
  const first = clock.after(1, note('first'));
  const secondTimer = clock.after(2, note('second'));
  first.cancel();
  first.cancel();
  assert.equal(armed(), 1);
  secondTimer.cancel();
  assert.equal(armed(), 0);
  clock.after(1, note('third'));
  await base.advance(10);
  assert.deepEqual(came, ['third 5']);
});

test('a timer that fires may cancel another of its step, and arm a later one', async () => {
  const { base, clock, came, note } = world();
  const otherTimers: ArmedTimer[] = [];
  clock.after(1, () => {
    otherTimers[0]?.cancel();
    clock.after(0, note('later'));
  });
  otherTimers.push(clock.after(1, note('cancelled')));
  clock.after(1, note('kept'));
  await base.advance(5);
  assert.deepEqual(came, ['kept 5', 'later 5']);
  otherTimers[0]?.cancel();
  await base.advance(10);
  assert.equal(came.length, 2);
});

test('timers after a pause of four steps fire at the end of the tick, sooner ones at the end of the step', async () => {
  const { base, clock, came, note } = world();
  await base.advance(6);
  const now = (): number => clock.monotonicMs();
  clock.afterPause(now() - 4 * STEP_MS, note('a'));
  clock.afterPause(now() - 4 * STEP_MS + 1, note('b'));
  clock.afterPause(now() - 4 * STEP_MS, note('cancelled')).cancel();
  clock.afterPause(now(), note('cancelled')).cancel();
  assert.deepEqual(came, []);
  await base.advance(10);
  assert.deepEqual(came, ['a 6', 'b 10']);
});
