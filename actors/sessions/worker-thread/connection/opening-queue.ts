import type { Clock } from '../../../../runtime/clock.ts';

/** Number of sessions that open at a time on a busy thread too, so that the thread always has work. */
const FEW = 8;

/** The most sessions that open at a time, even if the network is slow. So hundreds never connect at once. */
const MOST = 64;

/**
 * Interval in milliseconds of checks how busy the thread was, and the number of further sessions that begin if it had
 * time.
 */
const CHECK_MS = 25;
const MORE = 4;

/** The thread has time while it works less than this share of it. The rest is for its other work. */
const BUSY = 0.5;

/**
 * The queue of sessions that open. A few open at a time. More open while these leave the thread idle, for example
 * because the network takes a second for each. So the limit is the thread's own time, and not the sum of waits.
 */
export class OpeningQueue {
  readonly #clock: Clock;
  readonly #busyShare: () => number;
  readonly #underWay = new Set<object>();
  /** The functions that begin a session, in the order of arrival. */
  readonly #waiting = new Map<object, () => void>();
  #isChecking = false;

  /** `busyShare` returns the share of the time since its last call for which the thread worked, from 0 to 1. */
  constructor(clock: Clock, busyShare: () => number) {
    this.#clock = clock;
    this.#busyShare = busyShare;
  }

  /** Calls `begin` when a slot for `session` is free, at once if there is one. */
  enter(session: object, begin: () => void): void {
    this.#waiting.set(session, begin);
    this.#beginUpTo(FEW);
    if (this.#isChecking || this.#waiting.size === 0) return;
    this.#isChecking = true;
    // The thread's earlier work does not count for the sessions that open now.
    this.#busyShare();
    this.#checkLater();
  }

  /** The connection of `session` had its first event or its end, or it will not begin any more. */
  leave(session: object): void {
    this.#waiting.delete(session);
    if (this.#underWay.delete(session)) this.#beginUpTo(FEW);
  }

  /** Removes all waiting sessions; none of them begins any more. */
  clear(): void {
    this.#waiting.clear();
  }

  #checkLater(): void {
    this.#clock.after(CHECK_MS, () => {
      this.#isChecking = this.#waiting.size > 0;
      if (!this.#isChecking) return;
      if (this.#busyShare() < BUSY) this.#beginUpTo(Math.min(MOST, this.#underWay.size + MORE));
      this.#checkLater();
    });
  }

  #beginUpTo(atOnce: number): void {
    for (const [session, begin] of this.#waiting) {
      if (this.#underWay.size >= atOnce) return;
      this.#waiting.delete(session);
      this.#underWay.add(session);
      begin();
    }
  }
}
