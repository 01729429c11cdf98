import type { KeyLimits } from '../../policy/key-limits.ts';
import type { Actors } from '../../runtime/actors.ts';
import { shardOf } from '../../runtime/address.ts';
import type { Clock } from '../../runtime/clock.ts';
import { isObjectId } from '../../runtime/object-id.ts';
import { RuntimeFailure } from '../../runtime/runtime-failure.ts';
import type { Store } from '../../runtime/store.ts';
import { done, failed, type Outcome } from '../failure.ts';
import { shopKeys } from '../shop/shop-keys.ts';
import { admit } from './admission.ts';
import { listContacts } from './contact-list.ts';
import { tenantIdentity } from './identity.ts';
import type { TenantCommand } from './tenant-commands.ts';
import { tenantAddress } from './tenant-keys.ts';
import type { ContactView, ShopView, TenantOperations } from './tenant-operations.ts';
import { type ShopRecord, shopView } from './tenant-record.ts';
import { foldedName, shopsNewestFirst, type TenantState } from './tenant-state.ts';
import type { UsageStorer } from './usage-storer.ts';

/** What the desk works with. */
export interface TenantDeskOptions {
  readonly actors: Actors;
  readonly store: Store;
  readonly clock: Clock;
  readonly keyLimits: KeyLimits;
  readonly usage: UsageStorer;
}

/** The API's questions to a tenant: reads answer from the actor's last committed state, changes go through its mailbox. */
export function tenantDesk(options: TenantDeskOptions): TenantOperations {
  const { actors, store, clock, keyLimits, usage } = options;

  const state = async (tenantId: string): Promise<TenantState> => {
    const found = await actors.state<TenantState>(tenantAddress(tenantId));
    // The tenant was erased between the admission of this call and now.
    if (found === undefined) throw new RuntimeFailure('SHARD_NOT_OWNED', 'the tenant is gone');
    return found;
  };
  const ask = async <Value>(tenantId: string, command: TenantCommand): Promise<Outcome<Value>> =>
    (await actors.ask<Outcome<Value>>(tenantAddress(tenantId), command)) ?? failed('NOT_FOUND');
  const views = async (tenantId: string, shops: readonly ShopRecord[]): Promise<ShopView[]> => {
    const shard = shardOf(tenantId);
    const statuses = await store.read(shops.map(({ id }) => ['HGET', shopKeys(shard, id).shop, 'msgapp']));
    return shops.map((shop, index) => shopView(shop, statuses[index] as ShopView['channelStatus']['msgapp']));
  };

  return {
    admit({ tenantId, keyHash, ip }) {
      const call = { keyHash, ip, nowMs: clock.wallMs() };
      const decide = (tenant: TenantState | undefined): ReturnType<typeof admit> => {
        const admission = admit(tenant, call, keyLimits);
        if ('rate' in admission) usage.changed(tenantId);
        return admission;
      };
      const address = tenantAddress(tenantId);
      const active = actors.owns(address.shard) ? actors.peek<TenantState>(address) : undefined;
      return active ? decide(active) : actors.state<TenantState>(address).then(decide);
    },
    async identity({ tenantId, keyId }) {
      const identity = tenantIdentity(await state(tenantId), keyId, clock.wallMs());
      return identity ? done(identity) : failed('API_KEY_INVALID');
    },
    async listShops(tenantId, { page, limit }) {
      const shops = shopsNewestFirst(await state(tenantId));
      const items = await views(tenantId, shops.slice((page - 1) * limit, page * limit));
      return done({ items, page, limit, total: shops.length });
    },
    createShop: (tenantId, { name, phone, uniqueName }) =>
      ask(tenantId, { type: 'create_shop', name, phone, imported: !uniqueName }),
    async findShop(tenantId, idOrName) {
      const { shops } = await state(tenantId);
      const byId = isObjectId(idOrName) ? shops.get(idOrName.toLowerCase()) : undefined;
      const name = foldedName(idOrName);
      const found = byId ? [byId] : [...shops.values()].filter((shop) => foldedName(shop.name) === name);
      if (found.length > 1) return failed('AMBIGUOUS_SHOP', { candidates: found.map(({ id }) => id) });
      const [view] = await views(tenantId, found);
      return view ? done(view) : failed('SHOP_NOT_FOUND');
    },
    async listContacts(tenantId, query) {
      const { keys } = await state(tenantId);
      return done(await listContacts({ keys, store, nowMs: clock.wallMs() }, query));
    },
    declareContacts: (tenantId, contacts) => ask(tenantId, { type: 'declare', contacts }),
    revokeContact: (tenantId, phone) =>
      ask<ContactView | { phone: string; revokedAt: null }>(tenantId, { type: 'revoke_contact', phone }),
  };
}
