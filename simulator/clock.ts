/** A timer that was armed. Cancelling one that has fired does nothing. */
export interface SimulatorTimer {
  cancel(): void;
}

/** The simulator's only source of time, so that a test can turn it by hand. */
export interface SimulatorClock {
  /** Milliseconds since the Unix epoch. */
  wallMs(): number;
  /** Calls back once, `delayMs` from now. */
  after(delayMs: number, callback: () => void): SimulatorTimer;
}

/** The process's own clock. Its timers do not keep the process alive. */
export const processClock: SimulatorClock = {
  wallMs: () => Date.now(),
  after(delayMs, callback) {
    const handle = setTimeout(callback, delayMs);
    handle.unref();
    return { cancel: () => clearTimeout(handle) };
  },
};

/** A stanza's `t`: whole seconds since the epoch, as text. */
export const stanzaTime = (clock: SimulatorClock): string => String(Math.floor(clock.wallMs() / 1000));
