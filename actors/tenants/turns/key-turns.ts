import { done, failed } from '../../failure.ts';
import type { TenantEffect, TenantFieldsOf } from '../tenant-commands.ts';
import { type ApiKeyRecord, keyView } from '../tenant-record.ts';
import type { TenantTurn, TurnInputs } from '../tenant-replies.ts';
import { indexKeys, liveKey, type TenantState } from '../tenant-state.ts';

/** Stores a key. The index of keys has it already. */
export function putKey(
  state: TenantState,
  key: ApiKeyRecord,
  effects: readonly TenantEffect[] = [],
): TenantTurn<'put_key'> {
  const otherKeys = [...state.apiKeys.values()].filter(({ record }) => record.id !== key.id);
  return {
    state: { ...state, ...indexKeys([...otherKeys, liveKey(key)]) },
    writes: [['HSET', state.keys.apiKeys, key.id, JSON.stringify(key)]],
    effects,
    reply: done(keyView(key)),
  };
}

/**
 * Gives a key a new value. The old value stops with this commit, and calls with it get API_KEY_REVOKED as long as the
 * key's record has it. A revoked key stays revoked. `forgotten` has the hashes that were removed from the index of
 * keys. Only these leave the record, so an erasure finds all others.
 */
export function rotateKey(
  state: TenantState,
  { keyId, hash, forgotten }: TenantFieldsOf<'rotate_key'>,
  { nowMs }: Pick<TurnInputs, 'nowMs'>,
): TenantTurn<'rotate_key'> {
  const key = state.apiKeys.get(keyId);
  if (key === undefined) return { reply: failed('NOT_FOUND') };
  if (key.record.revokedAtMs !== null)
    return { reply: failed('CONFLICT', { message: 'A revoked key cannot be rotated; create a new one.' }) };
  const { hash: retiringHash, retiredHashes = [] } = key.record;
  const rotatedRecord = {
    ...key.record,
    hash,
    retiredHashes: [retiringHash, ...retiredHashes].filter((retiredHash) => !forgotten.includes(retiredHash)),
    rotatedAtMs: nowMs,
  };
  return putKey(state, rotatedRecord, [{ type: 'end_waits', keyId }]);
}

/** Revokes a key permanently, with this commit. Its record stays, so that calls with it get API_KEY_REVOKED. */
export function revokeKey(
  state: TenantState,
  { keyId }: TenantFieldsOf<'revoke_key'>,
  { nowMs }: Pick<TurnInputs, 'nowMs'>,
): TenantTurn<'revoke_key'> {
  const key = state.apiKeys.get(keyId);
  if (key === undefined) return { reply: failed('NOT_FOUND') };
  if (key.record.revokedAtMs !== null) return { reply: done(keyView(key.record)) };
  return putKey(state, { ...key.record, revokedAtMs: nowMs }, [{ type: 'end_waits', keyId }]);
}
