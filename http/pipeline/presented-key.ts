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

/** Most hashes remembered for each header. At that number all are forgotten. */
const REMEMBERED_KEYS = 1_000;

/** Cached by key, and by the header with a token after one blank. Only well-formed keys, which are short. */
const hashes = { byKey: new Map<string, string>(), byHeader: new Map<string, string>() };

/**
 * SHA-256 of a key in hex, or undefined when it cannot be one of ours. The keys of the last callers stay in memory, and
 * nowhere else, for their hashes cost more than all else about authenticating a call.
 */
export function hashOfKey(key: string): string | undefined {
  return rememberedHash(hashes.byKey, key, key);
}

/** Returns the hash of a request's key; undefined without a key. Usually the unparsed header is remembered. */
export function presentedHash(headers: RequestHeaders): string | undefined {
  const { authorization } = headers;
  const known = hashes.byHeader.get(authorization);
  if (known !== undefined) return known;
  const key = presentedKey(headers);
  if (key === undefined) return undefined;
  const isUsual = authorization.length === 'Bearer '.length + key.length && bearer(authorization) === key;
  return isUsual ? rememberedHash(hashes.byHeader, authorization, key) : hashOfKey(key);
}

function rememberedHash(known: Map<string, string>, text: string, key: string): string | undefined {
  const found = known.get(text);
  if (found !== undefined || !KEY_SHAPE.test(key)) return found;
  const made = hash('sha256', key);
  if (known.size >= REMEMBERED_KEYS) known.clear();
  known.set(text, made);
  return made;
}
