import { PLANS } from '../../policy/plan.ts';
import { checkSettings, resolveSettings, type SettingsTuning } from '../../policy/tenant-settings.ts';
import type { Turn } from '../../runtime/behaviour.ts';
import type { Write } from '../../runtime/store.ts';
import { done, failed } from '../failure.ts';
import { inboundModeOf } from '../inbound-mode.ts';
import { partsOf } from '../parts.ts';
import type { TenantEffect } from './tenant-commands.ts';
import { tenantsOfShardKey } from './tenant-keys.ts';
import type { ShopDraft } from './tenant-operations.ts';
import { type ShopRecord, shopView, type TenantRecord, tenantView } from './tenant-record.ts';
import { foldedName, type TenantState } from './tenant-state.ts';
import type { TenantChanges } from './tenant-view.ts';
import { webhooksChanged } from './webhook-turns.ts';

/** Changes the fields that operators may change. Settings are merged one by one; one out of range refuses them all. */
export function changeTenant(state: TenantState, changes: TenantChanges): Turn<TenantState, TenantEffect> {
  const problems = checkSettings(changes.settings ?? {});
  if (problems.length > 0) {
    const fields = problems.map(({ field, message }) => ({ field: `settings.${field}`, message }));
    return { reply: failed('VALIDATION_ERROR', { fields }) };
  }
  const record = changedRecord(state.record, changes);
  const writes: Write[] = [['SET', state.keys.record, JSON.stringify(record)]];
  let { ownerNumber } = state;
  const number = changes.owner === null ? null : changes.owner?.notificationNumber;
  if (number !== undefined) {
    ownerNumber = number;
    writes.push(
      ownerNumber === null ? ['DEL', state.keys.ownerNumber] : ['SET', state.keys.ownerNumber, ownerNumber],
    );
  }
  return {
    state: { ...state, record, ownerNumber, settings: resolveSettings(record.settings) },
    writes,
    effects: [
      { type: 'announce_tenant', tenantId: record.id },
      ...(record.active === state.record.active
        ? []
        : ([
            { type: 'set_shops_active', shopIds: [...state.shops.keys()], active: record.active },
            { type: 'end_waits' },
            webhooksChanged({ ...state, record }),
          ] as const)),
      ...(inboundModeOf(record) === inboundModeOf(state.record)
        ? []
        : ([
            { type: 'set_shops_inbound', shopIds: [...state.shops.keys()], inbound: inboundModeOf(record) },
          ] as const)),
    ],
    reply: done(tenantView(record, ownerNumber)),
  };
}

/** Returns a record with the changes. Absent fields stay. */
export function changedRecord(record: TenantRecord, changes: TenantChanges): TenantRecord {
  const { owner } = changes;
  return {
    ...record,
    name: changes.name ?? record.name,
    plan: changes.plan ?? record.plan,
    active: changes.active ?? record.active,
    poolFallback: changes.poolFallback ?? record.poolFallback,
    platform: changes.platform ?? record.platform,
    inbound: changes.inbound ?? inboundModeOf(record),
    owner: owner === undefined ? record.owner : owner && { name: owner.name },
    settings: tuned({ ...record.settings, ...changes.settings }),
  };
}

/** A setting that was returned to its default is not stored. */
function tuned(settings: SettingsTuning): SettingsTuning {
  return Object.fromEntries(
    Object.entries(settings).filter(([, value]) => value !== null && value !== undefined),
  ) as SettingsTuning;
}

/** A shop to make. */
interface NewShop extends ShopDraft {
  readonly id: string;
  readonly imported: boolean;
  readonly idempotencyKey: string | undefined;
  readonly nowMs: number;
  /** Retention of idempotency keys in milliseconds. */
  readonly retentionMs: number;
}

/**
 * Adds a shop, unless its idempotency key made one before. The tenant needs an owner, a free slot in its plan and an
 * unused name. An operator's import skips these three checks.
 */
export function createShop(state: TenantState, shop: NewShop): Turn<TenantState, TenantEffect> {
  const { idempotencyKey } = shop;
  const original = idempotencyKey === undefined ? undefined : madeWith(state, idempotencyKey, shop);
  if (original !== undefined) {
    const differs = original.name !== shop.name || original.phone !== (shop.phone ?? null);
    return { reply: done({ shop: shopView(original, null), replayed: true, differs }) };
  }
  if (!shop.imported) {
    const { shops } = PLANS[state.record.plan];
    if (state.shops.size >= shops) return { reply: failed('SHOP_LIMIT_REACHED') };
    const name = foldedName(shop.name);
    for (const other of state.shops.values()) {
      if (foldedName(other.name) === name) return { reply: failed('SHOP_NAME_TAKEN') };
    }
    if (state.record.owner === null) return { reply: failed('TENANT_OWNER_MISSING') };
  }
  const record: ShopRecord = {
    id: shop.id,
    name: shop.name,
    phone: shop.phone ?? null,
    createdAtMs: shop.nowMs,
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  };
  return {
    state: { ...state, shops: new Map(state.shops).set(record.id, record) },
    writes: [['HSET', state.keys.shops, record.id, JSON.stringify(record)]],
    effects: [{ type: 'announce_shop', tenantId: state.tenantId, shopId: record.id }],
    reply: done({ shop: shopView(record, null), replayed: false, differs: false }),
  };
}

/** Returns the shop that a key made, while keys are kept. */
function madeWith(
  { shops }: TenantState,
  idempotencyKey: string,
  { nowMs, retentionMs }: Pick<NewShop, 'nowMs' | 'retentionMs'>,
): ShopRecord | undefined {
  for (const shop of shops.values()) {
    if (shop.idempotencyKey === idempotencyKey && nowMs < shop.createdAtMs + retentionMs) return shop;
  }
  return undefined;
}

/** Removes a shop from the tenant at once; its data is erased right after. A repeated command changes nothing. */
export function deleteShop(state: TenantState, shopId: string): Turn<TenantState, TenantEffect> {
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
    effects: [{ type: 'erase' }, { type: 'announce_shop', tenantId: state.tenantId, shopId }],
    reply: done(true),
  };
}

/** Starts the erasure of a person who wrote to the tenant's shops. A repeated command changes nothing meanwhile. */
export function erasePerson(
  state: TenantState,
  personId: string,
  { isKnown = false }: { readonly isKnown?: boolean },
): Turn<TenantState, TenantEffect> {
  if (state.erasingPeople.has(personId)) return { reply: done(true) };
  if (!isKnown) return { reply: failed('NOT_FOUND') };
  return {
    state: { ...state, erasingPeople: new Set(state.erasingPeople).add(personId) },
    writes: [['SADD', state.keys.erasingPeople, personId]],
    effects: [{ type: 'erase' }],
    reply: done(true),
  };
}

/** Removes a person from the pending erasures once their data is gone. */
export function finishPersonErasure(state: TenantState, personId: string): Turn<TenantState, TenantEffect> {
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
export function deleteTenant(state: TenantState): Turn<TenantState, TenantEffect> {
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
      { type: 'announce_tenant', tenantId: state.tenantId },
    ],
    reply: done(true),
  };
}

/** All data of a shop is erased. */
export function shopErased(state: TenantState, shopId: string): Turn<TenantState, TenantEffect> {
  const erasing = new Set(state.erasing);
  erasing.delete(shopId);
  return {
    state: { ...state, erasing },
    writes: [['SREM', state.keys.erasing, shopId]],
    reply: done(true),
  };
}

/** Removes the keys of a deleted tenant, once all its other data is erased. */
export function tenantErased(state: TenantState): Turn<TenantState, TenantEffect> {
  if (!state.record.deleted || state.erasing.size > 0) return { reply: done(false) };
  return {
    state: { ...state, isGone: true },
    writes: [
      ...(Object.values(state.keys) as string[]).map((key) => ['UNLINK', key] as const),
      ['SREM', tenantsOfShardKey(state.shard), state.tenantId],
    ],
    reply: done(true),
  };
}
