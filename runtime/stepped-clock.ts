import type { ArmedTimer, Clock } from './clock.ts';
import { Deadlines } from './deadlines.ts';

/**
 * A clock whose timers come at steps that all of them share, so that one wake-up of the process serves many: what is done
 * right after another costs a fraction of what it costs alone, since code and data are still in the processor's caches.
 * For what nobody waits for. Timers of one step come in the order in which they were armed; where the process stood still, steps may
 * come in another order.
 */
export class SteppedClock implements Clock {
  readonly #clock: Clock;
  readonly #due: Deadlines<{ readonly callback: () => void }>;

  /** Timers come up to `stepMs` late. */
  constructor(clock: Clock, stepMs: number) {
    this.#clock = clock;
    this.#due = new Deadlines(clock, stepMs, ({ callback }) => callback());
  }

  wallMs(): number {
    return this.#clock.wallMs();
  }

  monotonicMs(): number {
    return this.#clock.monotonicMs();
  }

  after(delayMs: number, callback: () => void): ArmedTimer {
    const timer = { callback };
    const ending = this.#due.add(timer, Math.max(0, delayMs));
    return { cancel: () => ending.delete(timer) };
  }
}
