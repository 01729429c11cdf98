import type { Actors } from '../../runtime/actors.ts';
import type { Store } from '../../runtime/store.ts';
import { done, failed } from '../failure.ts';
import { committedTenant } from '../tenants/committed-tenant.ts';
import { tenantAddress, tenantKeys } from '../tenants/tenant-keys.ts';
import { type TenantRecord, tenantView } from '../tenants/tenant-record.ts';
import type { TenantState } from '../tenants/tenant-state.ts';
import type { LookupOutcome, SupervisedTenant } from './operator-operations.ts';

export interface InspectTenantOptions {
  readonly actors: Pick<Actors, 'snapshot' | 'state'>;
  readonly store: Pick<Store, 'read'>;
}

/**
 * Returns a tenant and the status of its actor. A suspended or crashed actor answers no commands, so its last commit is
 * shown. Only the record and the owner's number are read, since other stored data may cause the crash.
 */
export async function inspectTenant(
  tenantId: string,
  { actors, store }: InspectTenantOptions,
): Promise<LookupOutcome<SupervisedTenant>> {
  const address = tenantAddress(tenantId);
  const { status = 'active' } = actors.snapshot(address) ?? {};
  const storedAccount =
    status === 'active' ? await committedTenant(actors, tenantId) : await readTenantRecord(tenantId, store);
  const snapshot = actors.snapshot(address);
  if (storedAccount === undefined || storedAccount.record.deleted || snapshot === undefined)
    return failed('NOT_FOUND');
  const { restarts, lastError } = snapshot;
  return done({
    ...tenantView(storedAccount.record, storedAccount.ownerNumber),
    actor: { status: snapshot.status, restarts, lastError },
  });
}

/** Reads a tenant's record and its owner's number, without its actor. Undefined if there is no such tenant. */
export async function readTenantRecord(
  tenantId: string,
  store: Pick<Store, 'read'>,
): Promise<Pick<TenantState, 'record' | 'ownerNumber'> | undefined> {
  const keys = tenantKeys(tenantId);
  const [recordText, ownerNumber] = await store.read([
    ['GET', keys.record],
    ['GET', keys.ownerNumber],
  ]);
  return recordText ? { record: JSON.parse(recordText) as TenantRecord, ownerNumber } : undefined;
}
