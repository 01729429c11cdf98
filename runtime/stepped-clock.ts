import type { ArmedTimer, Clock } from './clock.ts';
import { Deadlines } from './deadlines.ts';

type Act = () => void;

/** After so many steps in which nothing was done there is, as a rule, nothing to join. */
const PAUSE_STEPS = 4;

/**
 * A clock whose timers come at steps that all of them share, so that one wake-up of the process serves many: what is done
 * right after another costs a fraction of what it costs alone, since code and data are still in the processor's caches.
 * For what nobody waits for. Timers of one step come in the order in which they were armed; where the process stood still, steps may
 * come in another order.
 */
export class SteppedClock implements Clock {
  readonly #clock: Clock;
  readonly #stepMs: number;
  readonly #afterTick: (act: Act) => void;
  readonly #due: Deadlines<Act>;

  /** Timers come up to `stepMs` late. `afterTick` calls back at the end of the current turn of the event loop. */
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
   * Fires every timer now. For a step of the wall clock: anyone who waits for a moment of it compares the time, and
   * arms again what is still to come.
   */
  fireAll(): void {
    this.#due.endAll();
  }

  /**
   * Calls back at the end of the step what was last done at `lastMs`; after a pause of a few steps at the end of this turn of the
   * event loop. Then little happens: there is nothing to join, and a timer would wake the process once more.
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
