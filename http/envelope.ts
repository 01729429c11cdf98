import { ERRORS, type HttpFailure, retryAfterSeconds } from './errors.ts';
import type { Header, ReplyValue } from './exchange.ts';
import type { RateState } from './rate-state.ts';

/** Every body of ours is JSON. */
export const JSON_HEADER: Header = ['Content-Type', 'application/json; charset=utf-8'];

/** `{ success: true, data }` (SPEC: Response envelope). */
export function successBody(data: unknown): string {
  return `{"success":true,"data":${JSON.stringify(data)}}`;
}

/** `{ success: false, error }` with status, `Retry-After` and the public words of the table. */
export function errorReply(failure: HttpFailure, headers: readonly Header[] = []): ReplyValue {
  const { status, code, message } = ERRORS[failure.code];
  const retryAfter = retryAfterSeconds(failure);
  const error = {
    code,
    message: failure.message ?? message,
    ...(retryAfter === undefined ? {} : { retryAfter }),
    ...(failure.fields === undefined ? {} : { fields: failure.fields }),
    ...(failure.candidates === undefined ? {} : { candidates: failure.candidates }),
  };
  return {
    status,
    headers: [
      JSON_HEADER,
      ...headers,
      ...(retryAfter === undefined ? [] : [['Retry-After', String(retryAfter)] as const]),
    ],
    body: `{"success":false,"error":${JSON.stringify(error)}}`,
  };
}

/** The four rate headers of the bucket this request consumed (SPEC: Conventions). */
export function rateHeaders(rate: RateState): readonly Header[] {
  return [
    ['X-RateLimit-Limit', String(rate.limit)],
    ['X-RateLimit-Remaining', String(rate.remaining)],
    ['X-RateLimit-Reset', String(rate.resetAtSeconds)],
    ['X-RateLimit-Scope', rate.scope],
  ];
}
