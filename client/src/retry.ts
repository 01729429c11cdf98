import type { ApiError } from './api-error.ts';

/** The first pause without a `retryAfter`, in milliseconds; it doubles with each try. */
const FIRST_PAUSE_MS = 200;
/** The longest such pause, in milliseconds: a dead node is replaced within its lease of 5 seconds. */
const LONGEST_PAUSE_MS = 5_000;

/** Refusals that the same call would get again. */
const FINAL_CODES: ReadonlySet<string> = new Set(['DECLARE_BATCH_TOO_LARGE', 'MSGAPP_SESSION_LOST']);

/** A call that failed, and how often it was tried. */
export interface FailedTry {
  readonly error: ApiError;
  /** How many tries there were, this one included. */
  readonly tries: number;
  readonly isRepeatable: boolean;
  readonly longestRetryAfterMs: number;
}

/**
 * The pause before the call is repeated, in milliseconds; undefined: it is not. Never shorter than `retryAfter`, and random
 * beyond it, so that many clients do not come back at once.
 */
export function pauseBeforeRetry(failed: FailedTry, random: () => number): number | undefined {
  if (!mayRepeat(failed)) return undefined;
  const growingMs = Math.min(FIRST_PAUSE_MS * 2 ** (failed.tries - 1), LONGEST_PAUSE_MS);
  const { retryAfter } = failed.error;
  if (retryAfter === undefined) return growingMs * (0.5 + random() / 2);
  if (retryAfter * 1_000 > failed.longestRetryAfterMs) return undefined;
  return retryAfter * 1_000 + growingMs * random();
}

function mayRepeat({ error, tries, isRepeatable }: FailedTry): boolean {
  const { code, status } = error;
  if (FINAL_CODES.has(code)) return false;
  // Somebody has to connect the number, unless it is on its way back.
  if (code === 'MSGAPP_NOT_CONNECTED' && error.retryAfter === undefined) return false;
  // Refused before anything was done, whatever the call was.
  if (status === 429 || code === 'OVERLOADED') return true;
  if (!isRepeatable) return false;
  if (status === undefined) return code === 'NO_ANSWER' || code === 'TIMEOUT';
  if (status === 500) return tries === 1;
  return status === 502 || status === 503 || status === 504;
}
