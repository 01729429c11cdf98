/** One request, answered: what the log, the metrics and the overview are told. Never a body, a query value or a key. */
export interface AnsweredRequest {
  /** Milliseconds since the epoch, when it was answered. */
  readonly atMs: number;
  readonly requestId: string;
  readonly tenantId: string | undefined;
  readonly keyId: string | undefined;
  readonly method: string;
  /** The template; `unmatched` where no route was found. */
  readonly route: string;
  readonly status: number;
  readonly latencyMs: number;
  readonly ip: string;
  /** Why it was refused; undefined for a success. */
  readonly errorCode: string | undefined;
}
