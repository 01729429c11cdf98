/**
 * Counts observations in plain numbers. Labels of prom-client cost several times as much as the rest of a request.
 */
export class PlainHistogram {
  /** The number of observations between each bound and the one before it, then the number above all bounds. */
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
