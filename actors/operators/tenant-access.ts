import type { Actors } from '../../runtime/actors.ts';
import type { FailureCode, Outcome } from '../failure.ts';
import { askTenant, NO_TENANT, presentTenant } from '../tenants/ask-tenant.ts';
import type { TenantCommandOf } from '../tenants/tenant-commands.ts';
import type { TenantReplies } from '../tenants/tenant-replies.ts';
import type { TenantState } from '../tenants/tenant-state.ts';
import type { LookupOutcome } from './operator-operations.ts';

/** A tenant that is there, and the way into its mailbox. */
export interface TenantAccess {
  readonly withTenant: <Value, Code extends FailureCode = never>(
    tenantId: string,
    answer: (state: TenantState) => Outcome<Value, Code> | Promise<Outcome<Value, Code>>,
  ) => Promise<LookupOutcome<Value, Code>>;
  readonly ask: <Type extends keyof TenantReplies>(
    tenantId: string,
    command: TenantCommandOf<Type>,
  ) => Promise<TenantReplies[Type] | typeof NO_TENANT>;
}

export function tenantAccess(actors: Actors): TenantAccess {
  return {
    async withTenant(tenantId, answer) {
      const state = await presentTenant(actors, tenantId);
      return state === undefined ? NO_TENANT : answer(state);
    },
    ask: (tenantId, command) => askTenant(actors, tenantId, command),
  };
}
