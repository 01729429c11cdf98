/** The node's clock beside that of Redis: which time counts, and how often both are compared. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HOUR_MS } from '../../runtime/durations.ts';
import { AgreedClock } from '../../runtime/ownership/agreed-clock.ts';
import { FakeClock } from './fake-clock.ts';

const TOLERANCE_MS = 1_000;

/** A clock that counts how often its monotonic time is asked for. */
class CountingClock extends FakeClock {
  compared = 0;

  override monotonicMs(): number {
    this.compared += 1;
    return super.monotonicMs();
  }
}

async function agreed(): Promise<{ readonly own: CountingClock; readonly clock: AgreedClock }> {
  const own = new CountingClock();
  const clock = new AgreedClock(own, TOLERANCE_MS, () => undefined);
  await clock.check(async () => own.wallMs());
  // The check read the time as well.
  await own.advance(20);
  own.compared = 0;
  return { own, clock };
}

test('readings of the next twenty milliseconds are not compared, and are exact', async () => {
  const { own, clock } = await agreed();
  const startedMs = own.wallMs();
  for (let ms = 0; ms < 40; ms += 1) {
    assert.equal(clock.wallMs(), startedMs + ms);
    assert.equal(clock.wallMs(), startedMs + ms);
    await own.advance(1);
  }
  assert.equal(own.compared, 2);
});

test('a step ahead is found at once, and after a step back the earlier time of the node counts', async () => {
  const { own, clock } = await agreed();
  const startedMs = clock.wallMs();
  own.stepWall(HOUR_MS);
  assert.equal(clock.wallMs(), startedMs, 'the time of Redis');
  await own.advance(5);
  assert.equal(clock.wallMs(), startedMs + 5, 'while they disagree each reading is compared');
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
