import type { LogLineParts, RequestKind } from './log-line-cache.ts';

/** One request, answered: what the log, the metrics and the overview are told. Never a body, a query value or a key. */
export interface AnsweredRequest extends RequestKind {
  /** Milliseconds since the epoch, when it was answered. */
  readonly atMs: number;
  /** As JSON writes it between quotes, since a caller's own may hold quotes and backslashes. */
  readonly requestId: string;
  /** The caller's W3C trace context; undefined without one. */
  readonly traceparent?: string | undefined;
  /** Its kind as the logs write it. */
  readonly words: LogLineParts;
  readonly latencyMs: number;
  readonly ip: string;
  /** Why it was refused; undefined for a success. */
  readonly errorCode: string | undefined;
}
