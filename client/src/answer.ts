import { ApiError } from './api-error.ts';
import type { FieldProblem } from './operations.ts';

/** The envelope of every answer. No field of it is checked yet. */
interface Envelope {
  readonly success?: unknown;
  readonly data?: unknown;
  readonly error?: {
    readonly code?: unknown;
    readonly message?: unknown;
    readonly retryAfter?: number;
    readonly fields?: readonly FieldProblem[];
    readonly candidates?: readonly string[];
    readonly nextCursor?: string;
  };
}

/**
 * Returns the `data` of an answer. Throws an `ApiError`, with `BAD_ANSWER` if something other than this API answered.
 */
export function dataOf(response: Response, text: string, sentId: string): unknown {
  const { status, headers } = response;
  const requestId = headers.get('x-request-id') ?? sentId;
  const envelope = envelopeOf(text);
  if (response.ok && envelope?.success === true) return envelope.data;
  const { code, message, ...details } = envelope?.error ?? {};
  if (response.ok || typeof code !== 'string') {
    const reason = `something other than the API answered ${status}`;
    throw new ApiError({ code: 'BAD_ANSWER', reason, status, retryAfter: secondsOf(headers), requestId });
  }
  const { retryAfter = secondsOf(headers), ...fields } = details;
  throw new ApiError({ code, reason: String(message), status, retryAfter, requestId, ...fields });
}

function envelopeOf(text: string): Envelope | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Returns `Retry-After` in seconds. A date counts as none: only a proxy would write one. */
function secondsOf(headers: Headers): number | undefined {
  const value = headers.get('retry-after');
  return value !== null && /^\d{1,9}$/.test(value) ? Number(value) : undefined;
}
