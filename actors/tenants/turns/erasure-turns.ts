import { partsOf } from '../../../runtime/parts.ts';
import { done, failed } from '../../failure.ts';
import { tenantsOfShardKey } from '../tenant-keys.ts';
import type { TenantTurn } from '../tenant-replies.ts';
import type { TenantState } from '../tenant-state.ts';
import { webhooksChanged, withoutShop } from './webhook-turns.ts';

/** Removes a shop from the tenant at once; its data is erased right after. A repeated command changes nothing. */
export function deleteShop(state: TenantState, shopId: string): TenantTurn<'delete_shop'> {
  if (state.erasing.has(shopId)) return { reply: done(true) };
  if (!state.shops.has(shopId)) return { reply: failed('NOT_FOUND') };
  const shops = new Map(state.shops);
  shops.delete(shopId);
  return {
    state: { ...state, shops, erasing: new Set(state.erasing).add(shopId) },
    writes: [
      ['HDEL', state.keys.shops, shopId],
      ['SADD', state.keys.erasing, shopId],
    ],
    effects: [{ type: 'erase' }, { type: 'announce_shop', shopId }],
    reply: done(true),
  };
}

/** Starts the erasure of a person who wrote to the tenant's shops. A repeated command changes nothing meanwhile. */
export function erasePerson(
  state: TenantState,
  personId: string,
  { isKnown = false }: { readonly isKnown?: boolean },
): TenantTurn<'erase_person'> {
  if (state.erasingPeople.has(personId)) return { reply: done(true) };
  if (!isKnown) return { reply: failed('NOT_FOUND') };
  return {
    state: { ...state, erasingPeople: new Set(state.erasingPeople).add(personId) },
    writes: [['SADD', state.keys.erasingPeople, personId]],
    effects: [{ type: 'erase' }],
    reply: done(true),
  };
}

/** Removes a person from the unfinished erasures once their data is gone. */
export function personErased(state: TenantState, personId: string): TenantTurn<'person_erased'> {
  const erasingPeople = new Set(state.erasingPeople);
  erasingPeople.delete(personId);
  return {
    state: { ...state, erasingPeople },
    writes: [['SREM', state.keys.erasingPeople, personId]],
    reply: done(true),
  };
}

/** Shops that one write names; a write may have 4,000 parts. */
const SHOPS_PER_WRITE = 1_000;

/**
 * Hides the tenant at once. Its shops are erased right after, then its other data. A repeated command changes nothing.
 */
export function deleteTenant(state: TenantState): TenantTurn<'delete_tenant'> {
  if (state.record.deleted) return { reply: done(true) };
  const record = { ...state.record, deleted: true };
  const shopIds = [...state.shops.keys()];
  const parts = [...partsOf(shopIds, SHOPS_PER_WRITE)];
  return {
    state: { ...state, record, shops: new Map(), erasing: new Set([...state.erasing, ...shopIds]) },
    writes: [
      ['SET', state.keys.record, JSON.stringify(record)],
      ['UNLINK', state.keys.shops],
      ...parts.map((part) => ['SADD', state.keys.erasing, ...part] as const),
    ],
    effects: [
      { type: 'erase' },
      { type: 'end_waits' },
      webhooksChanged({ ...state, record }),
      { type: 'announce_tenant' },
    ],
    reply: done(true),
  };
}

/** All data of a shop is erased. Webhooks that named it no longer do. */
export function shopErased(state: TenantState, shopId: string): TenantTurn<'shop_erased'> {
  const erasing = new Set(state.erasing);
  erasing.delete(shopId);
  const withoutIt = withoutShop(state, shopId);
  return {
    state: { ...withoutIt.state, erasing },
    writes: [['SREM', state.keys.erasing, shopId], ...withoutIt.writes],
    effects: withoutIt.effects,
    reply: done(true),
  };
}

/** Removes the keys of a deleted tenant. Refused while a shop of the tenant is not erased. */
export function tenantErased(state: TenantState): TenantTurn<'tenant_erased'> {
  if (!state.record.deleted || state.erasing.size > 0) return { reply: failed('CONFLICT') };
  return {
    state: { ...state, isGone: true },
    writes: [
      ...(Object.values(state.keys) as string[]).map((key) => ['UNLINK', key] as const),
      ['SREM', tenantsOfShardKey(state.shard), state.tenantId],
    ],
    reply: done(true),
  };
}
