import type { Identity } from './tenant-operations.ts';
import type { TenantState } from './tenant-state.ts';

/** What `GET /me` tells of a key and its tenant; undefined when the key is gone. */
export function tenantIdentity(state: TenantState, keyId: string, nowMs: number): Identity | undefined {
  const key = state.apiKeys.get(keyId);
  if (key === undefined) return undefined;
  const quota = state.quota.peek({ plan: state.record.plan, nowMs });
  return {
    key: key.view,
    tenant: { id: state.record.id, name: state.record.name, plan: state.record.plan },
    limits: key.record.limits,
    quota: {
      apiCalls: {
        limit: quota.limit,
        used: quota.used,
        remaining: quota.remaining,
        resetsAt: new Date(quota.resetsAtMs).toISOString(),
      },
    },
  };
}
