import type { ArmedTimer, Clock } from '../../../../runtime/clock.ts';

/** The timers of one session, all of which end with it. */
export class SessionTimers {
  readonly #clock: Pick<Clock, 'after'>;
  readonly #armed = new Set<ArmedTimer>();
  #hasEnded = false;

  constructor(clock: Pick<Clock, 'after'>) {
    this.#clock = clock;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Acts in `delayMs`, unless the timer is cancelled or the session ends before. */
  after(delayMs: number, act: () => void): ArmedTimer {
    if (this.#hasEnded) return { cancel: () => undefined };
    const timer = this.#clock.after(delayMs, () => {
      this.#armed.delete(timer);
      if (!this.#hasEnded) act();
    });
    this.#armed.add(timer);
    const cancel = (): void => {
      timer.cancel();
      this.#armed.delete(timer);
    };
    return { cancel };
  }

  end(): void {
    this.#hasEnded = true;
    for (const timer of this.#armed) timer.cancel();
    this.#armed.clear();
  }
}
