import type { ArmedTimer, Clock } from './clock.ts';
import { Deadlines } from './deadlines.ts';

type Act = () => void;

/** After this number of steps without work, new work need not wait: there is nothing to join. */
const PAUSE_STEPS = 4;

/**
 * A clock whose timers fire at shared steps, so one timer of the process serves many. Work that follows other work at
 * once costs a fraction, since code and data are still in the processor's caches.
 *
 * Use it if no caller waits. Timers of one step fire in the order in which they were armed. After the process was
 * blocked, steps may come in another order.
 */
export class SteppedClock implements Clock {
  readonly #clock: Clock;
  readonly #stepMs: number;
  readonly #afterTick: (act: Act) => void;
  readonly #due: Deadlines<Act>;

  /** Timers fire up to `stepMs` late. `afterTick` calls back at the end of the current tick of the event loop. */
  constructor(clock: Clock, stepMs: number, afterTick: (act: Act) => void) {
    this.#clock = clock;
    this.#stepMs = stepMs;
    this.#afterTick = afterTick;
    this.#due = new Deadlines(clock, stepMs, (callback) => callback());
  }

  wallMs(): number {
    return this.#clock.wallMs();
  }

  monotonicMs(): number {
    return this.#clock.monotonicMs();
  }

  after(delayMs: number, callback: Act): ArmedTimer {
    return this.#due.add(callback, Math.max(0, delayMs));
  }

  /**
   * Fires every timer now. Call it when the wall clock stepped. A caller that waits for a wall-clock moment then
   * compares the time. It arms its timer once more if the moment is still to come.
   */
  fireAll(): void {
    this.#due.endAll();
  }

  /**
   * Calls back at the end of the step if the last work was at `lastMs`, a few steps ago at most. After a longer pause
   * it calls back at the end of this tick of the event loop. There is then nothing to join, and a timer would only add
   * work.
   */
  afterPause(lastMs: number, callback: Act): ArmedTimer {
    if (this.monotonicMs() - lastMs < PAUSE_STEPS * this.#stepMs) return this.after(0, callback);
    let isCancelled = false;
    this.#afterTick(() => {
      if (!isCancelled) callback();
    });
    return {
      cancel() {
        isCancelled = true;
      },
    };
  }
}
