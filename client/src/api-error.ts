import type { ErrorCode, FieldProblem } from './operations.ts';

/**
 * Errors of the client itself. `NO_ANSWER`: no connection, or it broke. `TIMEOUT`: the call's time limit has passed.
 * `BAD_ANSWER`: the answer is not from this API, but from a proxy for instance.
 */
export type ClientErrorCode = 'NO_ANSWER' | 'TIMEOUT' | 'BAD_ANSWER';

/** A call that failed. */
export interface Failure {
  readonly code: ApiError['code'];
  readonly reason: string;
  readonly status?: number | undefined;
  readonly retryAfter?: number | undefined;
  readonly requestId: string;
  readonly fields?: readonly FieldProblem[] | undefined;
  readonly candidates?: readonly string[] | undefined;
  readonly nextCursor?: string | undefined;
  readonly cause?: unknown;
}

/** Every failure of a call, the service's and the client's own. Decide by `code`; holds no key and nothing that was sent. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** The API's code, or one of the client's own. More may come: take one you do not know by its `status`. */
  readonly code: ErrorCode | ClientErrorCode | (string & Record<never, never>);
  /** Why, for people; it may change. */
  readonly reason: string;
  /** HTTP status, or undefined if no response came. */
  readonly status: number | undefined;
  /** Seconds after which the call may succeed, if the service knows. */
  readonly retryAfter: number | undefined;
  /** `X-Request-Id` of the call, the same through its repetitions: what to name when you ask us about it. */
  readonly requestId: string;
  /** With `VALIDATION_ERROR`: the offending fields. */
  readonly fields: readonly FieldProblem[];
  /** With `AMBIGUOUS_SHOP`: ids of the shops. */
  readonly candidates: readonly string[];
  /** The cursor to continue from, if events can no longer be read from the given one. */
  readonly nextCursor: string | undefined;

  constructor(failure: Failure) {
    const { code, reason, status, requestId } = failure;
    const heading = status === undefined ? code : `${status} ${code}`;
    super(`${heading}: ${reason} (request ${requestId})`, { cause: failure.cause });
    this.code = code;
    this.reason = reason;
    this.status = status;
    this.retryAfter = failure.retryAfter;
    this.requestId = requestId;
    this.fields = failure.fields ?? [];
    this.candidates = failure.candidates ?? [];
    this.nextCursor = failure.nextCursor;
  }
}
