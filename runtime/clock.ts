/** A timer that was armed; cancelling one that has fired or was cancelled does nothing. */
export interface ArmedTimer {
  cancel(): void;
}

/**
 * The time of all decisions, records, waits and timers. It is passed in, so tests can advance it. Only time limits of
 * calls to other servers, single files and a closing listener, and slices of work (`Yielder`), use the process's
 * clock.
 *
 * Wall time is for people and records. Monotonic time is for leases and deadlines, because the wall clock may step.
 */
export interface Clock {
  /** Milliseconds since the Unix epoch. May step backwards. */
  wallMs(): number;
  /** Milliseconds on a clock that never steps. Only differences mean anything. */
  monotonicMs(): number;
  /** Calls back once, `delayMs` from now, never synchronously. */
  after(delayMs: number, callback: () => void): ArmedTimer;
}

/** Resolves after a delay. */
export function sleep(clock: Pick<Clock, 'after'>, delayMs: number): Promise<void> {
  return new Promise((resolve) => void clock.after(delayMs, resolve));
}

/** Resolves when the work has ended, in any way, or after `mostMs`. */
export function waitAtMost(
  clock: Pick<Clock, 'after'>,
  mostMs: number,
  work: Promise<unknown>,
): Promise<void> {
  return new Promise((resolve) => {
    const timer = clock.after(mostMs, resolve);
    const end = (): void => {
      timer.cancel();
      resolve();
    };
    work.then(end, end);
  });
}

/** The process's own clock. Its timers do not keep the process alive. */
export const systemClock: Clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after: (delayMs, callback) => new SystemTimer(delayMs, callback),
};

/** setTimeout fires at once above 2^31-1 ms, so a longer wait is split into steps. */
const LONGEST_STEP_MS = 2_147_483_647;

class SystemTimer implements ArmedTimer {
  readonly #callback: () => void;
  #handle: NodeJS.Timeout;
  /** The rest of the wait after the present step. */
  #leftMs: number;

  constructor(delayMs: number, callback: () => void) {
    this.#callback = callback;
    this.#leftMs = Math.max(0, delayMs);
    this.#handle = this.#arm();
  }

  cancel(): void {
    clearTimeout(this.#handle);
  }

  /** A step of the wait is over. */
  static #stepOver(timer: SystemTimer): void {
    if (timer.#leftMs > 0) timer.#handle = timer.#arm();
    else timer.#callback();
  }

  #arm(): NodeJS.Timeout {
    const stepMs = Math.min(this.#leftMs, LONGEST_STEP_MS);
    this.#leftMs -= stepMs;
    return setTimeout(SystemTimer.#stepOver, stepMs, this).unref();
  }
}
