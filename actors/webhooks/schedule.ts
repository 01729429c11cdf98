import type { Random } from '../../runtime/random.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** The delays between tries, like those of Svix: eight tries in a bit more than a day. */
const DELAYS_MS = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  10 * HOUR_MS,
];
/** Each delay is longer or shorter by up to this share, so that what failed together does not come back together. */
const JITTER = 0.1;

/** An endpoint of which every try failed for so long is disabled. */
export const MOST_FAILING_MS = 5 * 24 * HOUR_MS;

/** Returns the delay after the `tries`-th try; undefined: that was the last. */
export function delayAfter(tries: number, random: Random): number | undefined {
  const delayMs = DELAYS_MS[tries - 1];
  return delayMs === undefined ? undefined : Math.round(delayMs * (1 + JITTER * (2 * random() - 1)));
}
