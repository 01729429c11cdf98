/** A minute in milliseconds. */
export const MINUTE_MS = 60_000;

/** An hour in milliseconds; "per hour" is the rolling 60 minutes up to now (docs/contract.md, Windows). */
export const HOUR_MS = 3_600_000;

/**
 * A day in milliseconds; "per day" is the rolling 24 hours up to now, never a calendar day (docs/contract.md,
 * Windows).
 */
export const DAY_MS = 86_400_000;
