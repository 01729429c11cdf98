import type { ArmedTimer, Clock } from '../../runtime/clock.ts';
import { MINUTE_MS } from '../../runtime/durations.ts';

interface Alarm {
  readonly atMs: number;
  readonly order: number;
  readonly callback: () => void;
  cancelled: boolean;
}

/** Runs everything that is ready: promises, and callbacks of the current turn of the event loop. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/**
 * A clock that a test turns. Timers fire in the order of their time, with all that follows from one before the next.
 */
export class FakeClock implements Clock {
  #nowMs = 1_000;
  #wallOffsetMs = 1_800_000_000_000;
  #alarms: Alarm[] = [];
  #order = 0;

  wallMs(): number {
    return this.#nowMs + this.#wallOffsetMs;
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  after(delayMs: number, callback: () => void): ArmedTimer {
    this.#order += 1;
    const alarm: Alarm = {
      atMs: this.#nowMs + Math.max(0, delayMs),
      order: this.#order,
      callback,
      cancelled: false,
    };
    this.#insert(alarm);
    return {
      cancel: () => {
        alarm.cancelled = true;
      },
    };
  }

  /** Steps the wall clock. No time passes on the monotonic clock. */
  stepWall(byMs: number): void {
    this.#wallOffsetMs += byMs;
  }

  /** Lets time pass. */
  async advance(byMs: number): Promise<void> {
    const untilMs = this.#nowMs + byMs;
    await settle();
    for (;;) {
      const next = this.#alarms[0];
      if (next === undefined || next.atMs > untilMs) break;
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      // All timers of one moment fire together. Those that they arm for the same moment fire in the next round.
      while (this.#alarms[0] !== undefined && this.#alarms[0].atMs <= this.#nowMs) {
        const alarm = this.#alarms.shift() as Alarm;
        if (!alarm.cancelled) alarm.callback();
      }
      await settle();
    }
    this.#nowMs = untilMs;
  }

  /** Lets time pass in steps until a condition is true. Throws after `limitMs`. */
  async until(condition: () => boolean, limitMs = MINUTE_MS): Promise<void> {
    for (let waitedMs = 0; !condition(); waitedMs += 10) {
      if (waitedMs > limitMs) throw new Error(`It did not come about within ${limitMs} ms`);
      await this.advance(10);
    }
  }

  #insert(alarm: Alarm): void {
    let low = 0;
    let high = this.#alarms.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const otherAlarm = this.#alarms[middle] as Alarm;
      if (otherAlarm.atMs < alarm.atMs || (otherAlarm.atMs === alarm.atMs && otherAlarm.order < alarm.order))
        low = middle + 1;
      else high = middle;
    }
    this.#alarms.splice(low, 0, alarm);
  }
}

/**
 * The clock of one process that can be stopped as by SIGSTOP. Time passes meanwhile, but no timer runs. Overdue timers
 * run when the process continues. In a killed process they never run.
 */
export class ProcessClock implements Clock {
  readonly #base: FakeClock;
  #wallStepMs = 0;
  #held: (() => void)[] = [];
  #state: 'running' | 'paused' | 'killed' = 'running';

  constructor(base: FakeClock) {
    this.#base = base;
  }

  get isKilled(): boolean {
    return this.#state === 'killed';
  }

  wallMs(): number {
    return this.#base.wallMs() + this.#wallStepMs;
  }

  monotonicMs(): number {
    return this.#base.monotonicMs();
  }

  after(delayMs: number, callback: () => void): ArmedTimer {
    let cancelled = false;
    this.#base.after(delayMs, () =>
      this.run(() => {
        if (!cancelled) callback();
      }),
    );
    return {
      cancel: () => {
        cancelled = true;
      },
    };
  }

  /** Runs a callback now, or when the process continues. */
  run(callback: () => void): void {
    if (this.#state === 'running') callback();
    else if (this.#state === 'paused') this.#held.push(callback);
  }

  stepWall(byMs: number): void {
    this.#wallStepMs += byMs;
  }

  /** Ends all steps. */
  putRight(): void {
    this.#wallStepMs = 0;
  }

  pause(): void {
    if (this.#state === 'running') this.#state = 'paused';
  }

  resume(): void {
    if (this.#state !== 'paused') return;
    this.#state = 'running';
    for (const callback of this.#held.splice(0)) callback();
  }

  kill(): void {
    this.#state = 'killed';
    this.#held = [];
  }
}
