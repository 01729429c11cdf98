import type { KeyLimits } from '../../../policy/limits/key-limits.ts';
import { partsOf } from '../../../runtime/parts.ts';
import type { Write } from '../../../runtime/store.ts';
import type { TenantTurn } from '../tenant-replies.ts';
import type { TenantState } from '../tenant-state.ts';

/** Keys in one write of windows: each has two parts, and a script takes at most 4,000 (`checkWrites`). */
const KEYS_PER_WRITE = 1_000;

/**
 * True if a call was counted since windows and quota were last stored. Each call that the quota counts is also counted
 * by a window.
 */
export function hasNewUsage({ record, apiKeys }: TenantState, keyLimits: KeyLimits): boolean {
  if (record.deleted) return false;
  for (const keyId of apiKeys.keys()) if (keyLimits.hasChanged(keyId)) return true;
  return false;
}

/**
 * Stores the windows that changed since they were last stored, and the month's count. A commit that fails
 * leaves them so.
 */
export function usageTurn(state: TenantState, keyLimits: KeyLimits): TenantTurn<'store_usage'> {
  if (state.record.deleted) return {};
  const changedStates = [...state.apiKeys.keys()].flatMap((keyId) => keyLimits.changedState(keyId) ?? []);
  const parts = [...partsOf(changedStates, KEYS_PER_WRITE)];
  return {
    writes: [
      ['HSET', state.keys.usage, 'quota', state.quota.encode()],
      ...parts.map(
        (part): Write => ['HSET', state.keys.usage, ...part.flatMap((key) => [key.keyId, key.state])],
      ),
    ],
    committed() {
      for (const key of changedStates) keyLimits.onStored(key);
    },
  };
}
