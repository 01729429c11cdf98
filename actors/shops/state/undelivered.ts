import { DAY_MS } from '../../../runtime/durations.ts';

/** Messages sent since the last receipt of any recipient. */
export interface UndeliveredSends {
  /** When the first of them was sent, milliseconds since the Unix epoch. */
  readonly sinceMs: number;
  readonly count: number;
  /** The time at which their number became enough to report. Absent if it is not. */
  readonly enoughSinceMs?: number;
  /** True once enough of them were sent long enough ago. Operators are then notified. */
  readonly isLong: boolean;
}

/**
 * Operators are notified this long after enough messages were sent. One phone may be off for a day, but hardly those of
 * several people at once.
 */
const LONG_MS = DAY_MS;
/** How many undelivered messages are enough to report. */
const LEAST = 3;

/** Returns the count after one more send. */
export function countSent(before: UndeliveredSends | undefined, nowMs: number): UndeliveredSends {
  const count = (before?.count ?? 0) + 1;
  return {
    isLong: false,
    sinceMs: nowMs,
    ...before,
    count,
    ...(count === LEAST ? { enoughSinceMs: nowMs } : {}),
  };
}

/**
 * Returns the time at which the undelivered sends must be reported. Undefined if there are too few of them, or if
 * operators were notified.
 */
export function undeliveredDueAtMs(undelivered: UndeliveredSends | undefined): number | undefined {
  if (undelivered?.enoughSinceMs === undefined || undelivered.isLong) return undefined;
  return undelivered.enoughSinceMs + LONG_MS;
}

/** Returns the stored form. */
export function encodeUndelivered(undelivered: UndeliveredSends | undefined): string {
  return undelivered === undefined ? '' : JSON.stringify(undelivered);
}

/** Reads the sends back, or undefined if none are stored. */
export function decodeUndelivered(text: string | null | undefined): UndeliveredSends | undefined {
  return text ? (JSON.parse(text) as UndeliveredSends) : undefined;
}
