import type { ArmedTimer, Clock } from '../clock.ts';

/** Longest duration of a request for Redis' time that still counts, in milliseconds. */
const LONGEST_ASK_MS = 2_000;

/** The wall clock stepped if it differs from the monotonic clock by more than this, in milliseconds. */
const STEP_MS = 500;

/**
 * The node's clock, compared with that of Redis. While they differ by more than `toleranceMs`, wall time is the earlier
 * of both, because it is unknown which one is wrong. A time that is ahead empties windows too early. Once stored, it
 * also stops the records that it touched until that time has come.
 */
export class AgreedClock implements Clock {
  readonly #clock: Clock;
  readonly #toleranceMs: number;
  /** Redis' time, with the monotonic time at which it was read. `undefined` before the first check. */
  #seen: { readonly redisMs: number; readonly atMs: number } | undefined;
  readonly #onStep: () => void;
  /** Wall time less monotonic time when timers were last right. */
  #offsetMs: number;

  /**
   * `onStep` is called after a check that found a step of wall time. Timers for wall-clock moments are wrong by that
   * step.
   */
  constructor(clock: Clock, toleranceMs: number, onStep: () => void) {
    this.#clock = clock;
    this.#toleranceMs = toleranceMs;
    this.#onStep = onStep;
    this.#offsetMs = clock.wallMs() - clock.monotonicMs();
  }

  /** Milliseconds since the Unix epoch. It is this node's time, or Redis' if the two disagree and Redis' is earlier. */
  wallMs(): number {
    const wallMs = this.#clock.wallMs();
    const redisMs = this.#redisMs();
    const agrees = redisMs === undefined || Math.abs(wallMs - redisMs) <= this.#toleranceMs;
    return agrees ? wallMs : Math.min(wallMs, redisMs);
  }

  monotonicMs(): number {
    return this.#clock.monotonicMs();
  }

  after(delayMs: number, callback: () => void): ArmedTimer {
    return this.#clock.after(delayMs, callback);
  }

  /** Reads Redis' time. Rejects as `ask` does. A reply that took too long changes nothing. */
  async check(ask: () => Promise<number>): Promise<void> {
    try {
      await this.#compare(ask);
    } finally {
      this.#noticeStep();
    }
  }

  async #compare(ask: () => Promise<number>): Promise<void> {
    const askedMs = this.monotonicMs();
    const redisMs = await ask();
    const tookMs = this.monotonicMs() - askedMs;
    if (tookMs > LONGEST_ASK_MS) return;
    this.#seen = { redisMs, atMs: askedMs + tookMs / 2 };
  }

  #noticeStep(): void {
    const offsetMs = this.wallMs() - this.monotonicMs();
    if (Math.abs(offsetMs - this.#offsetMs) <= STEP_MS) return;
    this.#offsetMs = offsetMs;
    this.#onStep();
  }

  /** Returns how far this node's clock is ahead of Redis', in whole milliseconds, or 0 before the first check. */
  aheadMs(): number {
    const redisMs = this.#redisMs();
    return redisMs === undefined ? 0 : Math.round(this.#clock.wallMs() - redisMs);
  }

  /** The two clocks are further apart than is tolerated. */
  get isOff(): boolean {
    return Math.abs(this.aheadMs()) > this.#toleranceMs;
  }

  /** True if a stored time is ahead of the agreed time and of Redis' by more than the tolerance. */
  isFarAhead(storedMs: number): boolean {
    const wallMs = this.wallMs();
    return storedMs - Math.max(wallMs, this.#redisMs() ?? wallMs) > this.#toleranceMs;
  }

  #redisMs(): number | undefined {
    return this.#seen === undefined
      ? undefined
      : this.#seen.redisMs + Math.floor(this.monotonicMs() - this.#seen.atMs);
  }
}
