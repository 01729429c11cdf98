import type { RateBucket } from '../../policy/limits/key-limits.ts';
import { ERRORS, type HttpFailure, retryAfterSeconds } from './errors.ts';
import type { HeaderLines, ReplyValue } from './exchange.ts';

/** The content type of all bodies except files and pages. */
export const JSON_TYPE = 'application/json; charset=utf-8';

const rememberedTexts = new WeakMap<object, string>();

/** Remembers the body of a success. Its data must never change. */
export function rememberBody(data: object): void {
  if (!rememberedTexts.has(data)) rememberedTexts.set(data, successBody(data));
}

/** Returns `{ success: true, data }` (docs/contract.md, Response envelope). */
export function successBody(data: unknown): string {
  return rememberedTexts.get(data as object) ?? JSON.stringify({ success: true, data });
}

/** Returns `{ success: false, error }` with the status, `Retry-After` and the public message of the table. */
export function errorReply(failure: HttpFailure, headers: HeaderLines = ''): ReplyValue {
  const { status, code, message: publicMessage } = ERRORS[failure.code];
  const retryAfter = retryAfterSeconds(failure);
  const { message = publicMessage, fields, candidates, nextCursor } = failure;
  const error = { code, message, retryAfter, fields, candidates, nextCursor };
  return {
    status,
    contentType: JSON_TYPE,
    headers:
      headers + challenge(failure.code) + (retryAfter === undefined ? '' : `\r\nRetry-After: ${retryAfter}`),
    body: JSON.stringify({ success: false, error }),
    code,
  };
}

/**
 * Returns the challenge of a 401 (RFC 9110 §15.5.2), with an error if a token was given and refused. At least one
 * parameter is required (RFC 6750 §3).
 */
function challenge(code: HttpFailure['code']): HeaderLines {
  if (ERRORS[code].status !== 401) return '';
  const isMissing = code === 'API_KEY_MISSING';
  return `\r\nWWW-Authenticate: Bearer realm="api"${isMissing ? '' : ', error="invalid_token"'}`;
}

/** Returns the four rate headers of the window with the fewest calls left (docs/contract.md, Rate headers). */
export function rateHeaders({ limit, remaining, resetAtSeconds, scope }: RateBucket): HeaderLines {
  return `\r\nX-RateLimit-Limit: ${limit}\r\nX-RateLimit-Remaining: ${remaining}\r\nX-RateLimit-Reset: ${resetAtSeconds}\r\nX-RateLimit-Scope: ${scope}`;
}
