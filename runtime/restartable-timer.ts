import type { ArmedTimer, Clock } from './clock.ts';

/** One wait at a time, after which something goes on. */
export class RestartableTimer {
  readonly #clock: Clock;
  #timer: ArmedTimer | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isRunning(): boolean {
    return this.#timer !== undefined;
  }

  /** Goes on with `then` after `waitMs`, in place of whatever was waited for. */
  start(waitMs: number, then: () => void): void {
    this.#timer?.cancel();
    this.#timer = this.#clock.after(waitMs, () => {
      this.#timer = undefined;
      then();
    });
  }

  cancel(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
