import type { Clock } from '../../../../runtime/clock.ts';

/** So many at a time open on a busy thread too: it always has the next one to work at, and each goes on. */
const FEW = 8;

/** No more open at a time, however long the network takes for each: it must not be called by hundreds at once. */
const MOST = 64;

/** Between two looks at how busy the thread was, in milliseconds, and how many more begin where it had time. */
const LOOK_MS = 25;
const MORE = 4;

/** The thread has time while it works less than this share of it; what else it is asked for wants the rest. */
const BUSY = 0.5;

/**
 * The queue of sessions that open. A few open at a time, and more while those in progress leave the thread time, for
 * example because the network takes a second for each. So the limit is the thread's own time, and not the sum of waits.
 */
export class OpeningLine {
  readonly #clock: Clock;
  readonly #busyShare: () => number;
  readonly #underWay = new Set<object>();
  /** In the order in which they came. */
  readonly #waiting = new Map<object, () => void>();
  #looking = false;

  /** `busyShare`: of the time since it was last asked, how much the thread worked, from 0 to 1. */
  constructor(clock: Clock, busyShare: () => number) {
    this.#clock = clock;
    this.#busyShare = busyShare;
  }

  /** Calls `begin` when it is the turn of `who`, at once if a slot is free. */
  enter(who: object, begin: () => void): void {
    this.#waiting.set(who, begin);
    this.#beginUpTo(FEW);
    if (this.#looking || this.#waiting.size === 0) return;
    this.#looking = true;
    // The thread's earlier work does not count for the sessions that open now.
    this.#busyShare();
    this.#lookLater();
  }

  /** `who` is open, or ended, or will not begin any more. */
  leave(who: object): void {
    this.#waiting.delete(who);
    if (this.#underWay.delete(who)) this.#beginUpTo(FEW);
  }

  /** None that waits begins any more. */
  clear(): void {
    this.#waiting.clear();
  }

  #lookLater(): void {
    this.#clock.after(LOOK_MS, () => {
      this.#looking = this.#waiting.size > 0;
      if (!this.#looking) return;
      if (this.#busyShare() < BUSY) this.#beginUpTo(Math.min(MOST, this.#underWay.size + MORE));
      this.#lookLater();
    });
  }

  #beginUpTo(atOnce: number): void {
    for (const [who, begin] of this.#waiting) {
      if (this.#underWay.size >= atOnce) return;
      this.#waiting.delete(who);
      this.#underWay.add(who);
      begin();
    }
  }
}
