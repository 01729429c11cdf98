/** Returns the value below or at which this share of ascending values lies: 0.5 for the median, 1 for the largest. */
export function percentile(ascending: Float64Array, share: number): number {
  return ascending[Math.max(0, Math.ceil(ascending.length * share) - 1)] ?? Number.NaN;
}
