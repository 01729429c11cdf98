import { type Failure, type FailureCode, failed } from '../../failure.ts';

/** The reply to a due send that has ended, or been postponed, before its turn. No caller gets it. */
export const NO_LONGER_DUE = failed('CONFLICT', { message: 'The send is no longer due.' });

/** How soon a send is tried again if a refusal names no time, or if no answer came. */
export const TRY_AGAIN_MS = 30_000;

/**
 * Codes of refusals whose reason may pass soon, at an unknown time. Only a scheduled send meets `TENANT_INACTIVE`: a
 * batch waits while its tenant is inactive.
 */
const PASSING: readonly FailureCode[] = [
  'MSGAPP_NOT_CONNECTED',
  'MSGAPP_SESSION_LOST',
  'BOT_SERVICE_UNREACHABLE',
  'TENANT_INACTIVE',
];

/** Returns after how many milliseconds a refused send may be tried again; undefined: the refusal is final. */
export function tryAgainMs({ code, retryAfterSeconds }: Failure): number | undefined {
  const namedMs = retryAfterSeconds === undefined ? undefined : retryAfterSeconds * 1_000;
  // The reason may pass before the named time: a pool may take the message of a banned number.
  return PASSING.includes(code) ? Math.min(namedMs ?? TRY_AGAIN_MS, TRY_AGAIN_MS) : namedMs;
}
