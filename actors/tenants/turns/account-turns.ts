import { PLANS } from '../../../policy/plan.ts';
import { resolveSettings } from '../../../policy/tenant-settings.ts';
import type { Write } from '../../../runtime/store.ts';
import { done, type Failed, failed } from '../../failure.ts';
import { inboundModeOf } from '../../inbound-mode.ts';
import { presentFields } from '../../present-fields.ts';
import { changedRecord, settingsRefusal } from '../tenant-changes.ts';
import type { TenantEffect, TenantFieldsOf } from '../tenant-commands.ts';
import type { ShopDraft } from '../tenant-operations.ts';
import { type ShopRecord, shopView, type TenantRecord, tenantView } from '../tenant-record.ts';
import type { TenantTurn, TurnInputs } from '../tenant-replies.ts';
import { foldedName, type TenantState } from '../tenant-state.ts';
import type { TenantChanges } from '../tenant-view.ts';
import { webhooksChanged } from './webhook-turns.ts';

/** Returns the reason why this change of the owner is refused. Undefined if it is not. */
function ownerRefusal(
  record: TenantRecord,
  { owner }: TenantChanges,
): Failed<'VALIDATION_ERROR'> | undefined {
  if (!owner || owner.name !== undefined || record.owner !== null) return undefined;
  const message = 'is required, because the tenant has no owner';
  return failed('VALIDATION_ERROR', { fields: [{ field: 'owner.name', message }] });
}

/** Changes the fields that operators may change. Settings are merged one by one; one out of range refuses them all. */
export function changeTenant(state: TenantState, changes: TenantChanges): TenantTurn<'change'> {
  const refusal = settingsRefusal(changes) ?? ownerRefusal(state.record, changes);
  if (refusal !== undefined) return { reply: refusal };
  const record = changedRecord(state.record, changes);
  const writes: Write[] = [['SET', state.keys.record, JSON.stringify(record)]];
  const shopIds = [...state.shops.keys()];
  let { ownerNumber } = state;
  const number = changes.owner === null ? null : changes.owner?.notificationNumber;
  if (number !== undefined) {
    ownerNumber = number;
    writes.push(
      ownerNumber === null ? ['DEL', state.keys.ownerNumber] : ['SET', state.keys.ownerNumber, ownerNumber],
    );
  }
  const effects: TenantEffect[] = [{ type: 'announce_tenant' }];
  if (record.active !== state.record.active) {
    const notice = { type: 'tenant_active', isActive: record.active } as const;
    effects.push({ type: 'notify_shops', shopIds, notice }, { type: 'end_waits' });
    effects.push(webhooksChanged({ ...state, record }));
  }
  const inbound = inboundModeOf(record);
  if (inbound !== inboundModeOf(state.record))
    effects.push({ type: 'notify_shops', shopIds, notice: { type: 'tenant_inbound', inbound } });
  return {
    state: { ...state, record, ownerNumber, settings: resolveSettings(record.settings) },
    writes,
    effects,
    reply: done(tenantView(record, ownerNumber)),
  };
}

/**
 * Adds a shop, unless its idempotency key made one before. The tenant needs an owner, a free slot in its plan and an
 * unused name that is no shop's id. An operator's import skips these three checks.
 */
export function createShop(
  state: TenantState,
  shop: TenantFieldsOf<'create_shop'>,
  inputs: Pick<TurnInputs, 'nowMs' | 'makeId' | 'retentionMs'>,
): TenantTurn<'create_shop'> {
  const { nowMs, makeId } = inputs;
  const { idempotencyKey } = shop;
  const original = idempotencyKey === undefined ? undefined : madeWith(state, idempotencyKey, inputs);
  if (original !== undefined) {
    const reply = { shop: shopView(original, null), isReplayed: true, differs: differsFrom(original, shop) };
    return { reply: done(reply) };
  }
  if (!shop.imported) {
    const { shops } = PLANS[state.record.plan];
    if (state.shops.size >= shops) return { reply: failed('SHOP_LIMIT_REACHED') };
    const name = foldedName(shop.name);
    // A path with that name would lead to the other shop, because an id comes first.
    if (state.shops.has(name) || state.erasing.has(name))
      return { reply: failed('SHOP_NAME_TAKEN', { message: 'The name is the id of another shop.' }) };
    for (const otherShop of state.shops.values()) {
      if (foldedName(otherShop.name) === name) return { reply: failed('SHOP_NAME_TAKEN') };
    }
    if (state.record.owner === null) return { reply: failed('TENANT_OWNER_MISSING') };
  }
  const record: ShopRecord = {
    id: makeId(nowMs),
    name: shop.name,
    phone: shop.phone ?? null,
    createdAtMs: nowMs,
    ...presentFields<ShopRecord>({ idempotencyKey }),
  };
  return {
    state: { ...state, shops: new Map(state.shops).set(record.id, record) },
    writes: [['HSET', state.keys.shops, record.id, JSON.stringify(record)]],
    effects: [{ type: 'announce_shop', shopId: record.id }],
    reply: done({ shop: shopView(record, null), isReplayed: false, differs: false }),
  };
}

/** True if a call requests another shop than its key made. A field of the draft without a line does not compile. */
function differsFrom(original: ShopRecord, draft: ShopDraft): boolean {
  const differs: { readonly [Field in keyof Required<ShopDraft>]: boolean } = {
    name: original.name !== draft.name,
    phone: original.phone !== (draft.phone ?? null),
  };
  return Object.values(differs).includes(true);
}

/** Returns the shop that a key made, while keys are kept. */
function madeWith(
  { shops }: TenantState,
  idempotencyKey: string,
  { nowMs, retentionMs }: Pick<TurnInputs, 'nowMs' | 'retentionMs'>,
): ShopRecord | undefined {
  for (const shop of shops.values()) {
    if (shop.idempotencyKey === idempotencyKey && nowMs < shop.createdAtMs + retentionMs) return shop;
  }
  return undefined;
}
