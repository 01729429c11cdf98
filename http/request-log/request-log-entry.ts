import type { AnsweredRequest } from './answered-request.ts';

/** One request in the log. Never contains a body, a query value or a key. */
export interface RequestLogEntry {
  /** ISO 8601 in UTC, when it was answered. */
  readonly at: string;
  readonly requestId: string;
  readonly tenantId: string | null;
  readonly keyId: string | null;
  readonly method: string;
  /** The template, or `unmatched` if no route was found. */
  readonly route: string;
  readonly status: number;
  readonly latencyMs: number;
  readonly ip: string;
  /** Why it was refused; null for a success. */
  readonly code: string | null;
  /** The caller's W3C trace context; null without one. */
  readonly traceparent: string | null;
}

/** The owner of the log of requests without a known tenant. */
export const NOBODY = 'nobody';

/** An entry packed for its tenant's log, whose name it need not repeat. About 150 bytes. */
export function packEntry(answered: AnsweredRequest): string {
  const { atMs, requestId, keyId = '', method, route, status, latencyMs, ip } = answered;
  const row = [atMs, requestId, keyId, method, route, status, latencyMs, ip];
  const { errorCode = null, traceparent } = answered;
  if (traceparent !== undefined) return JSON.stringify([...row, errorCode, traceparent]);
  return JSON.stringify(errorCode === null ? row : [...row, errorCode]);
}

/** The entries of a packed tick, in the order in which they were answered. */
export function unpackEntries(owner: string, packed: string): readonly RequestLogEntry[] {
  const rows = JSON.parse(`[${packed}]`) as [
    atMs: number,
    requestId: string,
    keyId: string,
    method: string,
    route: string,
    status: number,
    latencyMs: number,
    ip: string,
    code?: string | null,
    traceparent?: string,
  ][];
  return rows.map(
    ([atMs, requestId, keyId, method, route, status, latencyMs, ip, code = null, traceparent = null]) => ({
      at: new Date(atMs).toISOString(),
      requestId,
      tenantId: owner === NOBODY ? null : owner,
      keyId: keyId === '' ? null : keyId,
      method,
      route,
      status,
      latencyMs,
      ip,
      code,
      traceparent,
    }),
  );
}
