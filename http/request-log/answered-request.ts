/** One answered request, for the logs, the metrics and the overview. Never contains a body, a query value or a key. */
export interface AnsweredRequest {
  /** Milliseconds since the epoch, when it was answered. */
  readonly atMs: number;
  /** Ours, or the caller's own: visible ASCII. */
  readonly requestId: string;
  readonly tenantId: string | undefined;
  readonly keyId: string | undefined;
  readonly method: string;
  /** The template, or `unmatched` if no route was found. */
  readonly route: string;
  readonly status: number;
  /** The caller's W3C trace context; undefined without one. */
  readonly traceparent?: string | undefined;
  readonly latencyMs: number;
  readonly ip: string;
  /** Why it was refused; undefined for a success. */
  readonly errorCode: string | undefined;
}
