import type { OperationName } from './methods.ts';
import { OPERATIONS } from './operations.ts';

/** Calls by POST without an idempotency key that change nothing when they are repeated. */
const IDEMPOTENT: ReadonlySet<OperationName> = new Set([
  'cancelMessage',
  'markInboundRead',
  'pauseBatch',
  'resumeBatch',
  'cancelBatch',
]);

/** A call as it goes out, on any of the base addresses. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Path and query after the base address. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** True if repeating the call does no harm. */
  readonly isRepeatable: boolean;
  /** True if a success is a file. */
  readonly isFile: boolean;
}

/**
 * Builds the request of a call: path, query, headers and body. If the operation takes an idempotency key and the call
 * has none, `newId` makes one. Throws a `TypeError` if a value cannot be in a path or a header.
 */
export function apiRequest(
  name: OperationName,
  params: Readonly<Record<string, unknown>>,
  newId: () => string,
): ApiRequest {
  const operation: (typeof OPERATIONS)[OperationName] = OPERATIONS[name];
  const { method } = operation;
  const isFile = 'isFile' in operation;
  const given = new Map(Object.entries(params).filter(([, value]) => value !== undefined));
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, part: string) => {
    const value = given.get(part);
    given.delete(part);
    return pathSegment(`${name}: ${part}`, value);
  });
  if (method === 'GET') {
    const query = new URLSearchParams(
      [...given].map(([key, value]): [string, string] => [key, String(value)]),
    );
    const queried = given.size === 0 ? path : `${path}?${query}`;
    return { method, path: queried, headers: {}, body: undefined, isRepeatable: true, isFile };
  }
  const headers: Record<string, string> = {};
  const keyPlace = 'idempotencyKey' in operation ? operation.idempotencyKey : undefined;
  const key = given.get('idempotencyKey') ?? newId();
  if (keyPlace === 'body') given.set('idempotencyKey', key);
  if (keyPlace === 'header') {
    given.delete('idempotencyKey');
    headers['idempotency-key'] = headerValue(`${name}: idempotencyKey`, key);
  }
  if (given.size > 0) headers['content-type'] = 'application/json';
  const body = given.size === 0 ? undefined : JSON.stringify(Object.fromEntries(given));
  // A repeated change sets the same values, and a second erasure finds nothing.
  const isIdempotent = method === 'DELETE' || method === 'PATCH' || IDEMPOTENT.has(name);
  return { method, path, headers, body, isRepeatable: keyPlace !== undefined || isIdempotent, isFile };
}

function pathSegment(name: string, value: unknown): string {
  // Dots alone would be taken for a step in the path, also percent-encoded.
  if (typeof value !== 'string' || value === '' || value === '.' || value === '..')
    throw new TypeError(`${name} must be a text that can stand in a path`);
  return encodeURIComponent(value);
}

function headerValue(name: string, value: unknown): string {
  if (typeof value !== 'string' || !/^[!-~](?:[ -~]*[!-~])?$/.test(value))
    throw new TypeError(`${name} must be visible ASCII or blanks, without blanks at its ends`);
  return value;
}
