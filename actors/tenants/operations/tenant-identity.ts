import { rememberLast } from '../../../runtime/memoize.ts';
import type { Identity } from '../tenant-operations.ts';
import type { TenantRecord } from '../tenant-record.ts';
import type { TenantState } from '../tenant-state.ts';

/** Returns the reply of `GET /me` for a key and its tenant, or undefined if the key does not exist. */
export function tenantIdentity(state: TenantState, keyId: string, nowMs: number): Identity | undefined {
  const key = state.apiKeys.get(keyId);
  if (key === undefined) return undefined;
  const quota = state.quota.peek({ plan: state.record.plan, nowMs });
  const { limit, used, remaining } = quota;
  const calls = { limit, used, remaining, resetsAt: monthEnd(quota.resetsAtMs) };
  return {
    key: key.view,
    tenant: tenantOf(state.record),
    limits: key.record.limits,
    quota: { api_calls: calls, apiCalls: calls },
  };
}

const tenants = new WeakMap<TenantRecord, Identity['tenant']>();

/** Returns the same object as long as the record is the same, so that results derived from it can be cached. */
function tenantOf(record: TenantRecord): Identity['tenant'] {
  const knownTenant = tenants.get(record);
  if (knownTenant !== undefined) return knownTenant;
  const tenant = { id: record.id, name: record.name, plan: record.plan };
  tenants.set(record, tenant);
  return tenant;
}

/**
 * A moment in ISO 8601. It is the same for everybody all month, and writing it costs as much as the rest of the reply.
 */
const monthEnd = rememberLast((ms: number) => new Date(ms).toISOString());
