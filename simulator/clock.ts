/** A timer. Cancelling one that has fired does nothing. */
export interface SimulatorTimer {
  cancel(): void;
}

/** The simulator's only source of time, so that a test can move it. */
export interface SimulatorClock {
  /** Milliseconds since the Unix epoch. */
  wallMs(): number;
  /** Calls back once, `delayMs` from now. */
  after(delayMs: number, callback: () => void): SimulatorTimer;
}

/** The clock of the process. Its timers do not keep the process alive. */
export const processClock: SimulatorClock = {
  wallMs: () => Date.now(),
  after(delayMs, callback) {
    const handle = setTimeout(callback, delayMs);
    handle.unref();
    return { cancel: () => clearTimeout(handle) };
  },
};

/** A callback that waits for its time. */
interface WaitingCallback {
  readonly dueMs: number;
  readonly callback: () => void;
  timer: SimulatorTimer;
}

/** A clock that can be moved forward. Callbacks that become due run at once, in order. */
export class MovableClock implements SimulatorClock {
  readonly #base: SimulatorClock;
  readonly #waiting = new Set<WaitingCallback>();
  #aheadMs = 0;

  constructor(base: SimulatorClock) {
    this.#base = base;
  }

  wallMs(): number {
    return this.#base.wallMs() + this.#aheadMs;
  }

  after(delayMs: number, callback: () => void): SimulatorTimer {
    const dueMs = this.wallMs() + delayMs;
    const entry: WaitingCallback = {
      dueMs,
      callback,
      timer: this.#base.after(delayMs, () => this.#fire(entry)),
    };
    this.#waiting.add(entry);
    return {
      cancel: () => {
        this.#waiting.delete(entry);
        entry.timer.cancel();
      },
    };
  }

  /** Moves the time forward by `byMs` milliseconds. */
  forward(byMs: number): void {
    this.#aheadMs += byMs;
    const nowMs = this.wallMs();
    for (const entry of [...this.#waiting].sort((left, right) => left.dueMs - right.dueMs)) {
      entry.timer.cancel();
      if (entry.dueMs <= nowMs) this.#fire(entry);
      else entry.timer = this.#base.after(entry.dueMs - nowMs, () => this.#fire(entry));
    }
  }

  #fire(entry: WaitingCallback): void {
    if (this.#waiting.delete(entry)) entry.callback();
  }
}

/** Returns a stanza's `t`: whole seconds since the epoch, as text. */
export const stanzaTime = (clock: SimulatorClock): string => String(Math.floor(clock.wallMs() / 1_000));
