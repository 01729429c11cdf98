import type { ArmedTimer, Clock } from '../../runtime/clock.ts';

/** Lets a loop sleep between two checks, until something happens that it should see. */
export class LoopTimer {
  readonly #clock: Pick<Clock, 'after'>;
  /** True if something happened since the loop's last check. */
  #isWoken = false;
  #sleeping: { readonly timer: ArmedTimer; readonly wake: () => void } | undefined;

  constructor(clock: Pick<Clock, 'after'>) {
    this.#clock = clock;
  }

  /** The loop begins a check, which sees all that happened so far. */
  beginCheck(): void {
    this.#isWoken = false;
  }

  /** Ends the sleep. During a check it makes the next sleep end at once. */
  wake(): void {
    this.#isWoken = true;
    this.#sleeping?.timer.cancel();
    this.#sleeping?.wake();
  }

  /** Resolves after that time, or at once if `wake` is called or was called since `beginCheck`. */
  async sleep(ms: number): Promise<void> {
    if (this.#isWoken) return;
    await new Promise<void>((resolve) => {
      const timer = this.#clock.after(ms, resolve);
      this.#sleeping = { timer, wake: resolve };
    });
    this.#sleeping = undefined;
  }
}
