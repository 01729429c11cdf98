import type { KeyLimits } from '../../../policy/limits/key-limits.ts';
import type { FailureCode } from '../../failure.ts';
import type { Admission, AdmissionTerms } from '../tenant-operations.ts';
import type { LiveKey, TenantState } from '../tenant-state.ts';

/** Returns the reason why a key may not call at all, or undefined if it may (docs/contract.md, Authentication). */
function keyRefusal(
  state: TenantState,
  key: LiveKey,
  call: { keyHash: string; ip: string; nowMs: number },
): FailureCode | undefined {
  const { hash, revokedAtMs, expiresAtMs } = key.record;
  // The rotation revoked the earlier value, whatever the state of its key.
  if (revokedAtMs !== null || call.keyHash !== hash) return 'API_KEY_REVOKED';
  if (expiresAtMs !== null && call.nowMs >= expiresAtMs) return 'API_KEY_EXPIRED';
  if (key.mayCallFrom?.(call.ip) === false) return 'IP_NOT_ALLOWED';
  return state.record.active ? undefined : 'TENANT_INACTIVE';
}

/**
 * Authenticates and counts one call: key, address, tenant, then the key's windows, then the month's quota. A call that
 * the windows refuse counts nothing; one that the quota refuses has been counted in the windows. With `isBusy`, a call
 * with a valid key is refused OVERLOADED and counts nothing. With `mayExceedQuota`, the quota counts the call and never
 * refuses it. With `isContinued`, nothing is counted again, because the call was counted when it began.
 */
export function admit(
  state: TenantState | undefined,
  call: AdmissionTerms & { readonly keyHash: string; readonly ip: string; readonly nowMs: number },
  keyLimits: KeyLimits,
): Admission {
  const key = state === undefined || state.record.deleted ? undefined : state.apiKeysByHash.get(call.keyHash);
  if (state === undefined || key === undefined)
    return { isAdmitted: false, failure: { code: 'API_KEY_INVALID' } };
  const { id: keyId, limits } = key.record;
  const refusal = keyRefusal(state, key, call);
  if (refusal !== undefined) return { isAdmitted: false, failure: { code: refusal }, keyId };
  const caller = { tenantId: state.tenantId, keyId, permissions: key.permissions };
  const keyUse = { keyId, limits, nowMs: call.nowMs };
  if (call.isContinued === true) return { isAdmitted: true, caller, rate: keyLimits.narrowestBucket(keyUse) };
  if (call.isBusy) {
    const rate = keyLimits.narrowestBucket(keyUse);
    return { isAdmitted: false, failure: { code: 'OVERLOADED' }, rate, keyId };
  }
  const rate = keyLimits.take(keyUse);
  if (!rate.isAdmitted) {
    const retryAfterSeconds = rate.retryAfterSeconds ?? 1;
    return { isAdmitted: false, failure: { code: 'RATE_LIMITED', retryAfterSeconds }, rate, keyId };
  }
  const quota = state.quota.take({
    plan: state.record.plan,
    nowMs: call.nowMs,
    mayExceed: call.mayExceedQuota,
  });
  if (!quota.isAdmitted) {
    const retryAfterSeconds = quota.retryAfterSeconds ?? 1;
    return { isAdmitted: false, failure: { code: 'QUOTA_EXCEEDED', retryAfterSeconds }, rate, keyId };
  }
  return { isAdmitted: true, caller, rate };
}
