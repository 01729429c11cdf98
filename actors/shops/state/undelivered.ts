import type { DueTimer } from '../../../runtime/behaviour.ts';

/** Messages sent since the last receipt of any recipient. */
export interface Undelivered {
  /** When the first of them was sent, milliseconds since the Unix epoch. */
  readonly sinceMs: number;
  readonly count: number;
  /** When their number became enough to report. Absent: it is not, or an earlier program counted them. */
  readonly enoughSinceMs?: number;
  /** There are enough of them for long enough: operators are notified. */
  readonly isLong: boolean;
}

/** A phone may be off for a day; the phones of several people at a time are not. */
const LONG_MS = 24 * 3_600_000;
const LEAST = 3;

/** One more was sent. */
export function oneMore(before: Undelivered | undefined, nowMs: number): Undelivered {
  const count = (before?.count ?? 0) + 1;
  return {
    isLong: false,
    ...{ sinceMs: nowMs, ...before, count },
    ...(count === LEAST ? { enoughSinceMs: nowMs } : {}),
  };
}

/**
 * Returns when enough of them will each have been sent for long enough; undefined: never at the present count, or
 * operators know.
 */
export function undeliveredTimer(undelivered: Undelivered | undefined): DueTimer | undefined {
  if (undelivered === undefined || undelivered.isLong || undelivered.count < LEAST) return undefined;
  return { id: 'undelivered', dueAtMs: (undelivered.enoughSinceMs ?? undelivered.sinceMs) + LONG_MS };
}

/** The stored form. */
export function encodeUndelivered(undelivered: Undelivered | undefined): string {
  return undelivered === undefined ? '' : JSON.stringify(undelivered);
}

/** Reads it back. */
export function decodeUndelivered(text: string | null | undefined): Undelivered | undefined {
  return text ? (JSON.parse(text) as Undelivered) : undefined;
}
