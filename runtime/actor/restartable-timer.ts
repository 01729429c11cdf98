import type { ArmedTimer, Clock } from '../clock.ts';

/** A timer with one wait at a time; starting it again replaces the wait. */
export class RestartableTimer {
  readonly #clock: Clock;
  #timer: ArmedTimer | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isRunning(): boolean {
    return this.#timer !== undefined;
  }

  /** Calls `onEnd` after `waitMs`. Replaces the wait before. */
  start(waitMs: number, onEnd: () => void): void {
    this.#timer?.cancel();
    this.#timer = this.#clock.after(waitMs, () => {
      this.#timer = undefined;
      onEnd();
    });
  }

  cancel(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
