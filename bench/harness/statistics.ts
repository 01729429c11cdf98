/** Several runs of one figure. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** Median, least and most of at least one value. */
export function spread(values: readonly number[]): Spread {
  const sorted = [...values].sort((left, right) => left - right);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  const lower = sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN;
  return { median: (lower + upper) / 2, min: sorted[0] ?? Number.NaN, max: sorted.at(-1) ?? Number.NaN };
}

/** `12,300 [11,900–14,000]`, or the value alone when there was one run. */
export function spreadText({ median, min, max }: Spread): string {
  return Number.isNaN(median) || min === max
    ? numberText(median)
    : `${numberText(median)} [${numberText(min)}–${numberText(max)}]`;
}

/** Three significant digits below a thousand, whole above. */
export function numberText(value: number): string {
  if (Number.isNaN(value)) return '–';
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en-US');
  return String(Number(value.toPrecision(3)));
}
