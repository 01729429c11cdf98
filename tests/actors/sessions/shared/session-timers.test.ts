import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SessionTimers } from '../../../../actors/sessions/worker-thread/shared/session-timers.ts';
import type { ArmedTimer, Clock } from '../../../../runtime/clock.ts';

test('a session that ended leaves no timer armed, and arms none', () => {
  const armed = new Set<ArmedTimer>();
  const clock: Pick<Clock, 'after'> = {
    after() {
      const timer = { cancel: () => void armed.delete(timer) };
      armed.add(timer);
      return timer;
    },
  };
  const timers = new SessionTimers(clock);
  timers.after(60_000, () => undefined);
  timers.after(60_000, () => undefined).cancel();
  assert.equal(armed.size, 1);
  timers.end();
  assert.equal(armed.size, 0);
  timers.after(60_000, () => undefined).cancel();
  timers.after(60_000, () => undefined);
  assert.equal(armed.size, 0);
});
