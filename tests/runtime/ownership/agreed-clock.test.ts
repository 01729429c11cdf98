/** The time of a node whose clock differs from that of Redis. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HOUR_MS } from '../../../runtime/durations.ts';
import { AgreedClock } from '../../../runtime/ownership/agreed-clock.ts';
import { FakeClock } from '../../testbed/fake-clock.ts';

const TOLERANCE_MS = 1_000;

async function agreed(): Promise<{ readonly own: FakeClock; readonly clock: AgreedClock }> {
  const ownClock = new FakeClock();
  const clock = new AgreedClock(ownClock, TOLERANCE_MS, () => undefined);
  await clock.check(async () => ownClock.wallMs());
  await ownClock.advance(20);
  return { own: ownClock, clock };
}

test('while the clocks agree the time is that of the node', async () => {
  const { own, clock } = await agreed();
  own.stepWall(TOLERANCE_MS);
  assert.equal(clock.wallMs(), own.wallMs());
  await own.advance(1);
  assert.equal(clock.wallMs(), own.wallMs());
});

test('a step ahead is found at once, and after a step back the earlier time of the node counts', async () => {
  const { own, clock } = await agreed();
  const startedMs = clock.wallMs();
  own.stepWall(HOUR_MS);
  assert.equal(clock.wallMs(), startedMs, 'the time of Redis');
  await own.advance(5);
  assert.equal(clock.wallMs(), startedMs + 5, 'and it goes on');
  own.stepWall(-2 * HOUR_MS);
  assert.equal(clock.wallMs(), startedMs + 5 - HOUR_MS);
  own.stepWall(HOUR_MS);
  assert.equal(clock.wallMs(), startedMs + 5);
});

test("a new check of Redis' time counts at once", async () => {
  const { own, clock } = await agreed();
  const startedMs = clock.wallMs();
  await clock.check(async () => own.wallMs() - HOUR_MS);
  assert.equal(clock.wallMs(), startedMs - HOUR_MS);
});
