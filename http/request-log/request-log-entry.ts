import * as v from 'valibot';
import type { ReplyOf } from '../../actors/reply-schemas/reply-fields.ts';
import type { AnsweredRequest } from '../contract/answered-request.ts';

const nullableText = v.nullable(v.string());

/** One request of the log, as operators read it. Never contains a body, a query value or a key. */
export const loggedRequest = v.strictObject({
  /** When it was answered: ISO 8601 in UTC. */
  at: v.string(),
  requestId: v.string(),
  tenantId: nullableText,
  keyId: nullableText,
  method: v.string(),
  /** The template, or `unmatched` if no route was found. */
  route: v.string(),
  status: v.number(),
  latencyMs: v.number(),
  ip: v.string(),
  /** Why it was refused; null for a success. */
  code: nullableText,
  /** The caller's W3C trace context; null without one. */
  traceparent: nullableText,
});

export type RequestLogEntry = ReplyOf<typeof loggedRequest>;

/** The name of the log of requests without a known tenant. */
export const NOBODY = 'nobody';

/** Packs an entry for its tenant's log, without the tenant. It takes about 150 bytes. */
export function packEntry(request: AnsweredRequest): string {
  const { atMs, requestId, keyId = '', method, route, status, latencyMs, ip } = request;
  const row = [atMs, requestId, keyId, method, route, status, latencyMs, ip];
  const { errorCode = null, traceparent } = request;
  if (traceparent !== undefined) return JSON.stringify([...row, errorCode, traceparent]);
  return JSON.stringify(errorCode === null ? row : [...row, errorCode]);
}

/** Returns the entries of a packed tick, in the order in which they were answered. */
export function unpackEntries(logName: string, packedText: string): readonly RequestLogEntry[] {
  const rows = JSON.parse(`[${packedText}]`) as [
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
      tenantId: logName === NOBODY ? null : logName,
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
