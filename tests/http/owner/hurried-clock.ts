import { type Clock, systemClock } from '../../../runtime/clock.ts';

/** A clock on which a wait of a moment is over at once, and has taken its time all the same. */
export function hurriedClock(): Clock {
  let skippedMs = 0;
  return {
    wallMs: () => systemClock.wallMs(),
    monotonicMs: () => systemClock.monotonicMs() + skippedMs,
    after(delayMs, callback) {
      if (delayMs > 100) return systemClock.after(delayMs, callback);
      return systemClock.after(0, () => {
        skippedMs += delayMs;
        callback();
      });
    },
  };
}
