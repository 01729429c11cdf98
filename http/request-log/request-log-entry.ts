import { rememberLast } from '../../runtime/memoize.ts';
import type { AnsweredRequest } from './answered-request.ts';

/** One request as the log tells it: never a body, a query value or a key. */
export interface RequestLogEntry {
  /** ISO 8601 in UTC, when it was answered. */
  readonly at: string;
  readonly requestId: string;
  readonly tenantId: string | null;
  readonly keyId: string | null;
  readonly method: string;
  /** The template; `unmatched` where no route was found. */
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
  const { atMs, requestId, words, latencyMs, ip, errorCode, traceparent } = answered;
  const start = usualStart(atMs) + requestId + words.packed + latencyMs;
  if (errorCode === undefined && traceparent === undefined) return start + usualEnd(ip);
  const trace = traceparent === undefined ? '' : `,"${traceparent}"`;
  const code = errorCode === undefined ? ',null' : `,"${errorCode}"`;
  return `${start},"${ip}"${code}${trace}]`;
}

/** The start of an entry: many share a moment. */
const usualStart = rememberLast((atMs: number) => ['[', atMs, ',"'].join(''));

/** The end of an entry of a success. Behind a proxy all callers have one address. */
const usualEnd = rememberLast((ip: string) => [',"', ip, '"]'].join(''));

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
