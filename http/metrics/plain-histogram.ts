/**
 * Observations counted in plain numbers and rendered when asked: prom-client's own labels cost several times as much as
 * all else that is done for a request.
 */
export class PlainHistogram {
  /** How many observations each bound was the first to hold, and how many were above all. */
  readonly counts: number[];
  sum = 0;
  readonly #bounds: readonly number[];

  /** `bounds`: upper bounds of the buckets, ascending. */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.counts = new Array<number>(bounds.length + 1).fill(0);
  }

  observe(value: number): void {
    const bounds = this.#bounds;
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket += 1;
    this.counts[bucket] = (this.counts[bucket] as number) + 1;
    this.sum += value;
  }
}
