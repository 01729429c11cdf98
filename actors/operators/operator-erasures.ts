import type { Actors } from '../../runtime/actors.ts';
import { type Clock, waitAtMost } from '../../runtime/clock.ts';
import { done, failed } from '../failure.ts';
import { askTenant } from '../tenants/ask-tenant.ts';
import { committedTenant } from '../tenants/committed-tenant.ts';
import type { TenantCommandOf } from '../tenants/tenant-commands.ts';
import type { TenantErasure } from '../tenants/tenant-erasure.ts';
import { tenantAddress } from '../tenants/tenant-keys.ts';
import type { TenantState } from '../tenants/tenant-state.ts';
import type { DeletionReply, LookupOutcome, OperatorOperations } from './operator-operations.ts';

export interface ErasuresOptions {
  readonly actors: Actors;
  readonly clock: Clock;
  readonly erasure: Pick<TenantErasure, 'run'>;
}

/** How long an operator's call waits for an erasure to end. */
const ERASED_WITHIN_MS = 1_000;

type Erasures = Pick<OperatorOperations, 'deleteTenant' | 'deleteShop' | 'deletePerson' | 'erasure'>;

type ErasureCommand = TenantCommandOf<'delete_tenant' | 'delete_shop' | 'erase_person'>;

/** Erases tenants, shops and people, and returns how far an erasure has come. */
export function erasures({ actors, erasure, clock }: ErasuresOptions): Erasures {
  const remainingTenant = async (tenantId: string): Promise<TenantState | undefined> => {
    const state = await committedTenant(actors, tenantId);
    return state?.isGone ? undefined : state;
  };
  /**
   * Erases what `id` names, waits a while for the erasure, and returns how far that has come. `isLeft`
   * returns true while it is still to be erased.
   */
  const erase = async (
    tenantId: string,
    id: string,
    command: ErasureCommand,
    isLeft: (state: TenantState) => boolean,
  ): Promise<LookupOutcome<DeletionReply>> => {
    const answer = await askTenant(actors, tenantId, command);
    if (!answer.ok) return answer;
    await waitAtMost(clock, ERASED_WITHIN_MS, erasure.run(tenantAddress(tenantId)));
    const state = await remainingTenant(tenantId);
    if (state === undefined || !isLeft(state)) return done({ id, deleted: true });
    return done({ id, deleted: false, ...leftOf(state) });
  };
  return {
    deleteTenant: (tenantId) => erase(tenantId, tenantId, { type: 'delete_tenant' }, () => true),
    deleteShop: ({ tenantId, shopId }) =>
      erase(tenantId, shopId, { type: 'delete_shop', shopId }, ({ erasing }) => erasing.has(shopId)),
    deletePerson: (tenantId, personId) =>
      erase(tenantId, personId, { type: 'erase_person', personId }, ({ erasingPeople }) =>
        erasingPeople.has(personId),
      ),
    async erasure(tenantId) {
      const state = await remainingTenant(tenantId);
      if (state === undefined) return failed('NOT_FOUND');
      const { shopsLeft, peopleLeft } = leftOf(state);
      if (!state.record.deleted && shopsLeft + peopleLeft === 0) return failed('NOT_FOUND');
      return done({ id: tenantId, wholeTenant: state.record.deleted, shopsLeft, peopleLeft });
    },
  };
}

function leftOf({ erasing, erasingPeople }: TenantState): {
  readonly shopsLeft: number;
  readonly peopleLeft: number;
} {
  return { shopsLeft: erasing.size, peopleLeft: erasingPeople.size };
}
