import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../runtime/durations.ts';
import type { Random } from '../../runtime/random.ts';

/** The delays between attempts, like those of Svix: eight attempts in a bit more than a day. */
const DELAYS_MS = [
  5_000,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  10 * HOUR_MS,
];
/**
 * Jitter: each delay varies by up to this fraction, so that endpoints that failed together are not retried together.
 */
const JITTER = 0.1;

/** An endpoint is disabled if every attempt failed for this long, in milliseconds. */
export const MOST_FAILING_MS = 5 * DAY_MS;

/** Returns the delay after this number of attempts, or undefined if that was the last. */
export function delayAfter(attemptCount: number, random: Random): number | undefined {
  const delayMs = DELAYS_MS[attemptCount - 1];
  return delayMs === undefined ? undefined : Math.round(delayMs * (1 + JITTER * (2 * random() - 1)));
}
