import type { ErrorCode, FieldProblem } from './operations.ts';

/**
 * Errors of the client itself. `NO_ANSWER`: the connection failed. `TIMEOUT`: the call's time limit has passed.
 * `BAD_ANSWER`: something other than this API answered, for example a proxy.
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

/**
 * A failure of a call, from the service or the client itself. Decide by `code`. It has neither the key nor what was
 * sent.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** The API's code, or one of the client's own. More may be added. If you do not know it, decide by `status`. */
  readonly code: ErrorCode | ClientErrorCode | (string & Record<never, never>);
  /** The reason, for people. Its text may change. */
  readonly reason: string;
  /** HTTP status, or undefined if no response came. */
  readonly status: number | undefined;
  /** Seconds after which the call may succeed, if the service knows. */
  readonly retryAfter: number | undefined;
  /** `X-Request-Id` of the call and of all its repetitions. Name it when you ask about the call. */
  readonly requestId: string;
  /** With `VALIDATION_ERROR`: the invalid fields. */
  readonly fields: readonly FieldProblem[];
  /** With `AMBIGUOUS_SHOP`: the ids of the shops with that name. */
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
