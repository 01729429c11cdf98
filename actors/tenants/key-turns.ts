import type { Turn } from '../../runtime/behaviour.ts';
import { done, failed } from '../failure.ts';
import type { TenantEffect } from './tenant-commands.ts';
import { type ApiKeyRecord, keyView } from './tenant-record.ts';
import { indexKeys, liveKey, type TenantState } from './tenant-state.ts';

/** Values of one key that are remembered after their rotation; some 6 KB a key at most. */
const RETIRED_HASHES = 100;

function withKey(
  state: TenantState,
  key: ApiKeyRecord,
  effects: readonly TenantEffect[] = [],
): Turn<TenantState, TenantEffect> {
  const others = [...state.apiKeys.values()].filter(({ record }) => record.id !== key.id);
  return {
    state: { ...state, ...indexKeys([...others, liveKey(key)]) },
    writes: [['HSET', state.keys.apiKeys, key.id, JSON.stringify(key)]],
    effects,
    reply: done(keyView(key)),
  };
}

/** Keeps a new key; the directory names its tenant already. */
export function putKey(state: TenantState, key: ApiKeyRecord): Turn<TenantState, TenantEffect> {
  return withKey(state, key);
}

/**
 * Gives a key a new value. The old value stops with this commit, and calls with it get API_KEY_REVOKED as long as the
 * key's record is kept. A revoked key stays revoked.
 */
export function rotateKey(
  state: TenantState,
  options: { keyId: string; hash: string; nowMs: number },
): Turn<TenantState, TenantEffect> {
  const key = state.apiKeys.get(options.keyId);
  if (key === undefined) return { reply: failed('NOT_FOUND') };
  if (key.record.revokedAtMs !== null) {
    return { reply: failed('CONFLICT', { message: 'A revoked key cannot be rotated; create a new one.' }) };
  }
  const { hash, retiredHashes = [] } = key.record;
  const retired = [hash, ...retiredHashes];
  const rotated = {
    ...key.record,
    hash: options.hash,
    retiredHashes: retired.slice(0, RETIRED_HASHES),
    rotatedAtMs: options.nowMs,
  };
  const hashes = retired.slice(RETIRED_HASHES);
  return withKey(state, rotated, [
    { type: 'end_waits', keyId: options.keyId },
    ...(hashes.length === 0 ? [] : [{ type: 'forget_keys', hashes } as const]),
  ]);
}

/** Revokes a key permanently, with this commit. Its record stays, so that calls with it get API_KEY_REVOKED. */
export function revokeKey(
  state: TenantState,
  options: { keyId: string; nowMs: number },
): Turn<TenantState, TenantEffect> {
  const key = state.apiKeys.get(options.keyId);
  if (key === undefined) return { reply: failed('NOT_FOUND') };
  if (key.record.revokedAtMs !== null) return { reply: done(keyView(key.record)) };
  return withKey(state, { ...key.record, revokedAtMs: options.nowMs }, [
    { type: 'end_waits', keyId: options.keyId },
  ]);
}
