/** One answered request, for the logs, the metrics and the overview. Never contains a body, a query value or a key. */
export interface AnsweredRequest {
  /** When it was answered, in milliseconds since the epoch. */
  readonly atMs: number;
  /** The caller's id or a new one: visible ASCII and spaces. */
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
