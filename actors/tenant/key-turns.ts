import type { Turn } from '../../runtime/behaviour.ts';
import { done, failed } from '../failure.ts';
import type { TenantEffect } from './tenant-commands.ts';
import { type ApiKeyRecord, keyView } from './tenant-record.ts';
import { indexKeys, liveKey, type TenantState } from './tenant-state.ts';

function withKey(
  state: TenantState,
  key: ApiKeyRecord,
  retired: readonly string[] = [],
): Turn<TenantState, TenantEffect> {
  const others = [...state.apiKeys.values()].filter(({ record }) => record.id !== key.id);
  return {
    state: { ...state, ...indexKeys([...others, liveKey(key)]) },
    writes: [['HSET', state.keys.apiKeys, key.id, JSON.stringify(key)]],
    effects: retired.length === 0 ? [] : [{ type: 'forget_keys', hashes: retired }],
    reply: done(keyView(key)),
  };
}

/** Keeps a new key; the directory names its tenant already. */
export function putKey(state: TenantState, key: ApiKeyRecord): Turn<TenantState, TenantEffect> {
  return withKey(state, key);
}

/** Gives a key a new value; the old one stops with this commit. A revoked key stays revoked. */
export function rotateKey(
  state: TenantState,
  options: { keyId: string; hash: string; nowMs: number },
): Turn<TenantState, TenantEffect> {
  const key = state.apiKeys.get(options.keyId);
  if (key === undefined) return { reply: failed('NOT_FOUND') };
  if (key.record.revokedAtMs !== null) {
    return { reply: failed('CONFLICT', { message: 'A revoked key cannot be rotated; create a new one.' }) };
  }
  const rotated = { ...key.record, hash: options.hash, rotatedAtMs: options.nowMs };
  return withKey(state, rotated, [key.record.hash]);
}

/** Revokes a key for good, with this commit. Its record stays, so that its use is answered API_KEY_REVOKED. */
export function revokeKey(
  state: TenantState,
  options: { keyId: string; nowMs: number },
): Turn<TenantState, TenantEffect> {
  const key = state.apiKeys.get(options.keyId);
  if (key === undefined) return { reply: failed('NOT_FOUND') };
  if (key.record.revokedAtMs !== null) return { reply: done(keyView(key.record)) };
  return withKey(state, { ...key.record, revokedAtMs: options.nowMs });
}
