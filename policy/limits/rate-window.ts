/** Up to this limit a window keeps the exact time of each call (docs/contract.md, Windows). */
export const EXACT_LIMIT = 1_000;

/** Above it, calls are gathered into this many sub-buckets of the window (docs/contract.md, Windows). */
const SUB_BUCKETS = 256;

/** Calls at one tick: a millisecond of an exact window, a sub-bucket of another. */
export interface RatePoint {
  readonly tick: number;
  readonly count: number;
}

/**
 * One sliding window: points, oldest first. Memory follows the limit, not the traffic: at most `EXACT_LIMIT` points
 * count when it is exact, and 257 when not. The caller makes sure that time never runs backwards.
 */
export class RateWindow {
  readonly #windowMs: number;
  #isExact: boolean;
  /** The tick of each point, followed by its calls. Those before `#first` no longer count. */
  #points: number[] = [];
  #first = 0;
  #total = 0;

  constructor(windowMs: number, isExact = false) {
    this.#windowMs = windowMs;
    this.#isExact = isExact;
  }

  get isExact(): boolean {
    return this.#isExact;
  }

  /** Calls that counted at the last `expire`. */
  get total(): number {
    return this.#total;
  }

  /** Points in memory. */
  get length(): number {
    return this.#points.length / 2;
  }

  tickOf(timeMs: number): number {
    return this.#isExact ? timeMs : Math.floor((timeMs * SUB_BUCKETS) / this.#windowMs);
  }

  /** Forgets the calls that no longer count, and gives memory back. */
  expire(nowMs: number): void {
    // A sub-bucket counts whole until its last call is a window old.
    const goneUntil = this.tickOf(nowMs) - (this.#isExact ? this.#windowMs : SUB_BUCKETS + 1);
    const points = this.#points;
    let first = this.#first;
    while ((points[first] ?? Number.POSITIVE_INFINITY) <= goneUntil) {
      this.#total -= points[first + 1] as number;
      first += 2;
    }
    this.#first = first;
    if (2 * first > points.length) {
      this.#points = points.slice(first);
      this.#first = 0;
    }
  }

  /** Counts calls at a tick. If the tick is before the newest one, they count with the newest. */
  add(tick: number, count: number): void {
    const points = this.#points;
    const lastIndex = points.length - 2;
    this.#total += count;
    if (tick <= (points[lastIndex] ?? -1)) {
      points[lastIndex + 1] = (points[lastIndex + 1] as number) + count;
    } else {
      points.push(tick, count);
    }
  }

  /** The first moment at which `count` of the calls that count now have stopped counting. */
  reliefMs(count: number): number {
    let index = this.#first;
    let goneCount = this.#points[index + 1] as number;
    while (goneCount < count) {
      index += 2;
      goneCount += this.#points[index + 1] as number;
    }
    return this.#endMs(this.#points[index] as number) + this.#windowMs + (this.#isExact ? 0 : 1);
  }

  /** Returns the contents of the window, oldest first. */
  points(): RatePoint[] {
    const points: RatePoint[] = [];
    for (let index = this.#first; index < this.#points.length; index += 2)
      points.push({ tick: this.#points[index] as number, count: this.#points[index + 1] as number });
    return points;
  }

  /** The limit crossed `EXACT_LIMIT`: times become sub-buckets, or sub-buckets their last millisecond. */
  convert(isExact: boolean, nowMs: number): void {
    const times = this.points().map(({ tick, count }) => ({ timeMs: this.#endMs(tick), count }));
    this.#isExact = isExact;
    this.#points = [];
    this.#first = 0;
    this.#total = 0;
    for (const { timeMs, count } of times) this.add(this.tickOf(timeMs), count);
    this.expire(nowMs);
  }

  /** The last millisecond of a tick: as late as a call in it can have been. */
  #endMs(tick: number): number {
    return this.#isExact ? tick : Math.ceil(((tick + 1) * this.#windowMs) / SUB_BUCKETS) - 1;
  }
}
