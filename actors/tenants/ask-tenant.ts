import type { Actors } from '../../runtime/actors.ts';
import { failed } from '../failure.ts';
import type { TenantCommandOf } from './tenant-commands.ts';
import { tenantAddress } from './tenant-keys.ts';
import type { TenantReplies } from './tenant-replies.ts';
import { type TenantState, unlessErased } from './tenant-state.ts';

/** The reply for a tenant that does not exist, or that is being erased. */
export const NO_TENANT = failed('NOT_FOUND');

/** Gives a command to a tenant's actor, and returns the reply of its turn. */
export function askTenant<Type extends keyof TenantReplies>(
  actors: Pick<Actors, 'ask'>,
  tenantId: string,
  command: TenantCommandOf<Type>,
): Promise<TenantReplies[Type] | typeof NO_TENANT> {
  return actors.ask<TenantReplies[Type] | typeof NO_TENANT>(tenantAddress(tenantId), command, NO_TENANT);
}

/** Returns the last committed state of a tenant that is there. See `unlessErased`. */
export async function presentTenant(
  actors: Pick<Actors, 'state'>,
  tenantId: string,
): Promise<TenantState | undefined> {
  return unlessErased(await actors.state<TenantState>(tenantAddress(tenantId)));
}
