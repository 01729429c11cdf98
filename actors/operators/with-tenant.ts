import type { Actors } from '../../runtime/actors.ts';
import type { FailureCode, Outcome } from '../failure.ts';
import { NO_TENANT } from '../tenants/ask-tenant.ts';
import { presentTenant } from '../tenants/committed-tenant.ts';
import type { TenantState } from '../tenants/tenant-state.ts';
import type { LookupOutcome } from './operator-operations.ts';

/** Answers from the last committed state of a tenant that is there. */
export async function withTenant<Value, Code extends FailureCode = never>(
  actors: Pick<Actors, 'state'>,
  tenantId: string,
  answer: (state: TenantState) => Outcome<Value, Code> | Promise<Outcome<Value, Code>>,
): Promise<LookupOutcome<Value, Code>> {
  const state = await presentTenant(actors, tenantId);
  return state === undefined ? NO_TENANT : answer(state);
}
