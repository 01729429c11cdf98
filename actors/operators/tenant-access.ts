import type { Actors } from '../../runtime/actors.ts';
import { type FailureCode, failed, type Outcome } from '../failure.ts';
import type { TenantCommand } from '../tenants/tenant-commands.ts';
import { tenantAddress } from '../tenants/tenant-keys.ts';
import type { TenantState } from '../tenants/tenant-state.ts';
import type { Found } from './operator-operations.ts';

/** A tenant that is there, and the way into its mailbox. */
export interface TenantAccess {
  readonly withTenant: <Value, Code extends FailureCode = never>(
    tenantId: string,
    answer: (state: TenantState) => Outcome<Value, Code> | Promise<Outcome<Value, Code>>,
  ) => Promise<Found<Value, Code>>;
  readonly ask: <Value, Code extends FailureCode = never>(
    tenantId: string,
    command: TenantCommand,
  ) => Promise<Found<Value, Code>>;
}

/** Returns the access to the tenants of these actors. */
export function tenantAccess(actors: Actors): TenantAccess {
  const withTenant: TenantAccess['withTenant'] = async (tenantId, answer) => {
    const state = await actors.state<TenantState>(tenantAddress(tenantId));
    return state === undefined || state.record.deleted ? failed('NOT_FOUND') : answer(state);
  };
  return {
    withTenant,
    ask: <Value, Code extends FailureCode>(tenantId: string, command: TenantCommand) =>
      withTenant(tenantId, () =>
        actors.ask<Found<Value, Code>>(tenantAddress(tenantId), command, failed('NOT_FOUND')),
      ),
  };
}
