import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { RequestHeaders } from '../contract/exchange.ts';

/** The shape of a key: prefix, live marker, 32 random bytes in base62 (docs/contract.md, Authentication). */
const KEY_SHAPE = /^tm_live_[0-9A-Za-z]{20,64}$/;

/** Returns the key of a request, from `Authorization: Bearer` or its alias `x-api-key`. Undefined if it has none. */
export function presentedKey(headers: RequestHeaders): string | undefined {
  return bearer(headers.authorization) ?? (headers.apiKey === '' ? undefined : headers.apiKey);
}

/** Returns the token of `Authorization: Bearer`, whose scheme is case-insensitive (RFC 9110, 11.1). */
export function bearer(authorization: string): string | undefined {
  // The usual spelling comes first, because lower case makes a new string.
  const isBearer =
    authorization.startsWith('Bearer ') || authorization.slice(0, 7).toLowerCase() === 'bearer ';
  if (!isBearer) return undefined;
  const token = authorization.slice(7).trim();
  return token === '' ? undefined : token;
}

/**
 * The hashes of the last callers' keys. Only this cache keeps raw keys in memory. Without it a `GET /me` took 1.2 to
 * 1.4 times the CPU (`npm run bench -- me`).
 */
const hashes = new LRUCache<string, string>({ max: 1_000 });

/** Returns the SHA-256 of a key in hex, or undefined if it cannot be one of ours. */
export function hashOfKey(key: string): string | undefined {
  const knownHash = hashes.get(key);
  if (knownHash !== undefined || !KEY_SHAPE.test(key)) return knownHash;
  const keyHash = hash('sha256', key);
  hashes.set(key, keyHash);
  return keyHash;
}
