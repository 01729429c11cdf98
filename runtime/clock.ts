/** A timer that was armed; cancelling one that has fired or was cancelled does nothing. */
export interface ArmedTimer {
  cancel(): void;
}

/**
 * The only source of time. It is passed in wherever time matters, so tests can advance it. Wall time is for people and
 * records. Monotonic time is for leases and deadlines, because the wall clock may step.
 */
export interface Clock {
  /** Milliseconds since the Unix epoch. May step backwards. */
  wallMs(): number;
  /** Milliseconds on a clock that never steps. Only differences mean anything. */
  monotonicMs(): number;
  /** Calls back once, `delayMs` from now, never synchronously. */
  after(delayMs: number, callback: () => void): ArmedTimer;
}

/** setTimeout fires at once above 2^31-1 ms, so a longer wait is split into steps. */
const LONGEST_STEP_MS = 2_147_483_647;

/** The process's own clock. Its timers do not keep the process alive. */
export const systemClock: Clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after(delayMs, callback) {
    if (delayMs <= LONGEST_STEP_MS) {
      const handle = setTimeout(callback, delayMs).unref();
      return { cancel: () => clearTimeout(handle) };
    }
    let step = systemClock.after(LONGEST_STEP_MS, () => {
      step = systemClock.after(delayMs - LONGEST_STEP_MS, callback);
    });
    return { cancel: () => step.cancel() };
  },
};
