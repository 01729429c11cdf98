import type { Actors } from '../../runtime/actors.ts';
import { failed } from '../failure.ts';
import type { TenantCommandOf } from './tenant-commands.ts';
import { tenantAddress } from './tenant-keys.ts';
import type { TenantReplies } from './tenant-replies.ts';

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
