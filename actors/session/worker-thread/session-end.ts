import type { SessionEnd } from '../session-host.ts';
import { backoffOf } from './usync-errors.ts';

/** The client's own words when nobody scanned any code; its status code is the 408 of any time-out. */
const QR_EXHAUSTED_MESSAGE = 'QR refs attempts ended';

/**
 * What a disconnect means (docs/chat-client.md, Disconnects). Codes not listed are
 * drops of the line: 408, 428, 500, 503 and whatever the network invents next.
 */
export function sessionEndOf(cause: {
  readonly statusCode: number | undefined;
  readonly message: string;
}): SessionEnd {
  if (cause.message === QR_EXHAUSTED_MESSAGE) return 'qr_exhausted';
  switch (cause.statusCode) {
    case 401:
    case 419:
      return 'logged_out';
    case 403:
      return 'forbidden';
    case 405:
      return 'outdated';
    case 440:
      return 'replaced';
    case 515:
      return 'restart_required';
    default:
      return 'transient';
  }
}

/** The status code and message in an error of the client's (a Boom, an iq error) or any other throw. */
export function readClientError(error: unknown): { statusCode: number | undefined; message: string } {
  if (typeof error !== 'object' || error === null) return { statusCode: undefined, message: String(error) };
  const { output, message } = error as { output?: { statusCode?: number }; message?: string };
  return { statusCode: output?.statusCode, message: message ?? 'unknown error' };
}

/** The code of an iq error, which the client keeps in `data` under a status code of 500. */
export function queryErrorCode(error: unknown): number | undefined {
  const data = typeof error === 'object' && error !== null ? (error as { data?: unknown }).data : undefined;
  return typeof data === 'number' ? data : undefined;
}

/**
 * Whether the network said that we ask too much: an iq error 429 rejects with `rate-overlimit` and `data: 429`. An error of
 * another code that names a wait says the same.
 */
export function isRateSignal(error: unknown): boolean {
  const { message } = readClientError(error);
  return (
    queryErrorCode(error) === 429 || message === 'rate-overlimit' || backoffOf(error).backoffMs !== undefined
  );
}
