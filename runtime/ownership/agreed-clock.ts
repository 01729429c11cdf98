import type { ArmedTimer, Clock } from '../clock.ts';

/** Longest answer to a question for Redis' time that still counts, in milliseconds. */
const LONGEST_LOOK_MS = 2_000;

/**
 * After a reading that agreed, readings of the next milliseconds are not compared. A request reads the time four times,
 * and a comparison costs twice as much as a reading. A clock that steps meanwhile is noticed that much later at most.
 */
const AGREED_FOR_MS = 20;

/** The wall clock stepped when it moved so much further than the monotonic clock, or less far, in milliseconds. */
const STEP_MS = 500;

/**
 * The node's clock, compared with that of Redis. While they differ by more than `toleranceMs`, wall time is the earlier
 * of both, because it is unknown which one is wrong. A time that is ahead empties windows too early. Once stored, it
 * also stops the records that it touched until then.
 */
export class AgreedClock implements Clock {
  readonly #clock: Clock;
  readonly #toleranceMs: number;
  /** Redis' time, and when it was that on the monotonic clock; `undefined` before the first look. */
  #seen: { readonly redisMs: number; readonly atMs: number } | undefined;
  readonly #onStep: () => void;
  /** Wall time less monotonic time when timers were last right. */
  #offsetMs: number;
  /** The last wall time that was compared and agreed; infinite when none did since the last look. */
  #agreedMs = Number.POSITIVE_INFINITY;

  /** `onStep` is called after a look that found a step of wall time: timers for moments of it are wrong by as much. */
  constructor(clock: Clock, toleranceMs: number, onStep: () => void) {
    this.#clock = clock;
    this.#toleranceMs = toleranceMs;
    this.#onStep = onStep;
    this.#offsetMs = clock.wallMs() - clock.monotonicMs();
  }

  /** Milliseconds since the Unix epoch: this node's, or Redis' when the two disagree and that is earlier. */
  wallMs(): number {
    const wallMs = this.#clock.wallMs();
    if (wallMs >= this.#agreedMs && wallMs < this.#agreedMs + AGREED_FOR_MS) return wallMs;
    const redisMs = this.#redisMs();
    const agrees = redisMs === undefined || Math.abs(wallMs - redisMs) <= this.#toleranceMs;
    this.#agreedMs = agrees ? wallMs : Number.POSITIVE_INFINITY;
    return agrees ? wallMs : Math.min(wallMs, redisMs);
  }

  monotonicMs(): number {
    return this.#clock.monotonicMs();
  }

  after(delayMs: number, callback: () => void): ArmedTimer {
    return this.#clock.after(delayMs, callback);
  }

  /** Asks Redis for its time. Rejects as `ask` does; an answer that took too long changes nothing. */
  async look(ask: () => Promise<number>): Promise<void> {
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
    if (tookMs > LONGEST_LOOK_MS) return;
    this.#seen = { redisMs, atMs: askedMs + tookMs / 2 };
    this.#agreedMs = Number.POSITIVE_INFINITY;
  }

  #noticeStep(): void {
    const offsetMs = this.wallMs() - this.monotonicMs();
    if (Math.abs(offsetMs - this.#offsetMs) <= STEP_MS) return;
    this.#offsetMs = offsetMs;
    this.#onStep();
  }

  /** By how much this node's clock is ahead of Redis', in whole milliseconds; 0 before the first look. */
  aheadMs(): number {
    const redisMs = this.#redisMs();
    return redisMs === undefined ? 0 : Math.round(this.#clock.wallMs() - redisMs);
  }

  /** The two clocks are further apart than is tolerated. */
  get isOff(): boolean {
    return Math.abs(this.aheadMs()) > this.#toleranceMs;
  }

  /** Whether a stored time lies so far ahead that no node may have written it: it could not agree with Redis. */
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
