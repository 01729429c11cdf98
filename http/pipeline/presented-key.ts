import { hash } from 'node:crypto';
import type { RequestHeaders } from '../contract/exchange.ts';

/** The shape of a key: prefix, live marker, 32 random bytes in base62 (docs/contract.md, Authentication). */
const KEY_SHAPE = /^tm_live_[0-9A-Za-z]{20,64}$/;

/** The key a request carries, as `Authorization: Bearer` or its alias `x-api-key`; undefined when there is none. */
export function presentedKey(headers: RequestHeaders): string | undefined {
  return bearer(headers.authorization) ?? (headers.apiKey === '' ? undefined : headers.apiKey);
}

/** The token of `Authorization: Bearer`, whose scheme is case-insensitive (RFC 9110, 11.1). */
export function bearer(authorization: string): string | undefined {
  // The usual spelling comes first, because lower case makes a new string.
  const isBearer =
    authorization.startsWith('Bearer ') || authorization.slice(0, 7).toLowerCase() === 'bearer ';
  if (!isBearer) return undefined;
  const token = authorization.slice(7).trim();
  return token === '' ? undefined : token;
}

/** Returns the SHA-256 of a key in hex, or undefined if it cannot be one of ours. */
export function hashOfKey(key: string): string | undefined {
  return KEY_SHAPE.test(key) ? hash('sha256', key) : undefined;
}
