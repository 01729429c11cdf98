import { resolveSettings, type TenantSettings } from '../../policy/tenant-settings.ts';
import type { Actors } from '../../runtime/actors.ts';
import type { MaybePromise } from '../../runtime/maybe-promise.ts';
import { tenantAddress } from './tenant-keys.ts';
import { type TenantState, unlessErased } from './tenant-state.ts';

/** Returns a tenant's last committed state (`Actors.state`). Undefined if there is no such tenant. */
export function committedTenant(
  actors: Pick<Actors, 'state'>,
  tenantId: string,
): MaybePromise<TenantState | undefined> {
  return actors.state<TenantState>(tenantAddress(tenantId));
}

/** Like `committedTenant`, without waiting. Also undefined if the tenant is not active on this node. */
export function activeTenant(actors: Pick<Actors, 'peek'>, tenantId: string): TenantState | undefined {
  return actors.peek<TenantState>(tenantAddress(tenantId));
}

/** Returns the last committed state of a tenant that is there. See `unlessErased`. */
export async function presentTenant(
  actors: Pick<Actors, 'state'>,
  tenantId: string,
): Promise<TenantState | undefined> {
  return unlessErased(await committedTenant(actors, tenantId));
}

/** Returns the settings by which a tenant's shops send. Those of a missing tenant are the default ones. */
export function settingsOf(tenant: TenantState | undefined): TenantSettings {
  return tenant?.settings ?? resolveSettings({});
}
