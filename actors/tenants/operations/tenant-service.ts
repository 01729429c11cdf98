import type { KeyLimits } from '../../../policy/limits/key-limits.ts';
import type { Actors } from '../../../runtime/actors.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { type MaybePromise, mapMaybePromise } from '../../../runtime/maybe-promise.ts';
import { isObjectId } from '../../../runtime/object-id.ts';
import type { Store } from '../../../runtime/store.ts';
import { done, failed, type Outcome, renamedFailure } from '../../failure.ts';
import { askTenant } from '../ask-tenant.ts';
import { activeTenant, committedTenant } from '../committed-tenant.ts';
import type {
  Admission,
  AdmissionTerms,
  Identity,
  NamedShopCode,
  ShopView,
  TenantOperations,
} from '../tenant-operations.ts';
import { type ShopRecord, shopView } from '../tenant-record.ts';
import { foldedName, shopsNewestFirst, type TenantState, unlessErased } from '../tenant-state.ts';
import { admit } from './admission.ts';
import { listContacts } from './contact-list.ts';
import { tenantIdentity } from './tenant-identity.ts';
import type { UsageStorer } from './usage-storer.ts';

export interface TenantServiceOptions {
  readonly actors: Actors;
  readonly store: Store;
  readonly clock: Clock;
  readonly keyLimits: KeyLimits;
  readonly usage: UsageStorer;
  /** The channel status of each of the tenant's shops, in the order of the ids; null until it was connected once. */
  readonly channelStatuses: (
    tenantId: string,
    shopIds: readonly string[],
  ) => Promise<readonly ShopView['channelStatus']['msgapp'][]>;
}

/** The reply to a call whose tenant was erased after its admission. The tenant's keys are erased with it. */
const ERASED = failed('API_KEY_INVALID');
const AS_ERASED = { from: 'NOT_FOUND', to: ERASED.failure.code } as const;

/** Returns the API's operations on a tenant. Reads use the actor's last committed state, changes are commands to it. */
export function tenantService(options: TenantServiceOptions): TenantOperations {
  const { actors, store, clock } = options;

  const findTenant = (tenantId: string): MaybePromise<TenantState | undefined> => {
    // The caller checks that the lease is still valid before it releases the reply.
    return activeTenant(actors, tenantId) ?? committedTenant(actors, tenantId);
  };
  const identityOf = (
    tenant: TenantState | undefined,
    keyId: string,
  ): Outcome<Identity, 'API_KEY_INVALID'> => {
    const knownTenant = unlessErased(tenant);
    const identity = knownTenant && tenantIdentity(knownTenant, keyId, clock.wallMs());
    return identity ? done(identity) : ERASED;
  };
  const views = async (tenantId: string, shops: readonly ShopRecord[]): Promise<ShopView[]> => {
    const ids = shops.map(({ id }) => id);
    const statuses = await options.channelStatuses(tenantId, ids);
    return shops.map((shop, index) => shopView(shop, statuses[index] ?? null));
  };
  const findShop: TenantOperations['findShop'] = async (tenantId, idOrName) => {
    const tenant = unlessErased(await findTenant(tenantId));
    if (tenant === undefined) return ERASED;
    const named = namedShop(tenant, idOrName);
    if (!named.ok) return named;
    const [view] = await views(tenantId, [named.value]);
    return view ? done(view) : failed('SHOP_NOT_FOUND');
  };

  return {
    admit: admission(options, findTenant),
    identity({ tenantId, keyId }) {
      return mapMaybePromise(findTenant(tenantId), (tenant) => identityOf(tenant, keyId));
    },
    async listShops(tenantId, { page, limit }) {
      const tenant = unlessErased(await findTenant(tenantId));
      if (tenant === undefined) return ERASED;
      const shops = shopsNewestFirst(tenant);
      const items = await views(tenantId, shops.slice((page - 1) * limit, page * limit));
      return done({ items, page, limit, total: shops.length });
    },
    async createShop(tenantId, draft, idempotencyKey) {
      const command = { type: 'create_shop', ...draft, imported: false, idempotencyKey } as const;
      const creationReply = renamedFailure(await askTenant(actors, tenantId, command), AS_ERASED);
      if (!creationReply.ok || !creationReply.value.isReplayed) return creationReply;
      const shop = await findShop(tenantId, creationReply.value.shop.id);
      return shop.ok ? done({ ...creationReply.value, shop: shop.value }) : done(creationReply.value);
    },
    findShop,
    shopId(tenantId, idOrName) {
      const tenant = findTenant(tenantId);
      return tenant instanceof Promise
        ? tenant.then((foundTenant) => shopIdOf(foundTenant, idOrName))
        : shopIdOf(tenant, idOrName);
    },
    async listContacts(tenantId, query) {
      const tenant = unlessErased(await findTenant(tenantId));
      if (tenant === undefined) return ERASED;
      return done(await listContacts({ keys: tenant.keys, store, nowMs: clock.wallMs() }, query));
    },
    async declareContacts(tenantId, contacts) {
      return renamedFailure(await askTenant(actors, tenantId, { type: 'declare', contacts }), AS_ERASED);
    },
    async revokeContact(tenantId, phone) {
      return renamedFailure(await askTenant(actors, tenantId, { type: 'revoke_contact', phone }), AS_ERASED);
    },
  };
}

/** Makes the operation that admits a call. */
function admission(
  { clock, keyLimits, usage }: TenantServiceOptions,
  findTenant: (tenantId: string) => MaybePromise<TenantState | undefined>,
): TenantOperations['admit'] {
  const decide = (
    tenant: TenantState | undefined,
    { tenantId, keyHash, ip }: Parameters<TenantOperations['admit']>[0],
    terms: AdmissionTerms,
  ): Admission => {
    const { isBusy, mayExceedQuota, isContinued } = terms;
    const call = { keyHash, ip, isBusy, mayExceedQuota, isContinued, nowMs: clock.wallMs() };
    const decision = admit(tenant, call, keyLimits);
    if (decision.rate !== undefined && !isBusy && isContinued !== true) usage.storeSoon(tenantId);
    return decision;
  };
  // Separate, so that a call makes no closure (docs/decisions/012-value-or-promise.md, Closures and arrays).
  const decideOnceFound = async (
    tenant: Promise<TenantState | undefined>,
    request: Parameters<typeof decide>[1],
    terms: AdmissionTerms,
  ): Promise<Admission> => decide(await tenant, request, terms);
  return (request, terms) => {
    const tenant = findTenant(request.tenantId);
    return tenant instanceof Promise
      ? decideOnceFound(tenant, request, terms)
      : decide(tenant, request, terms);
  };
}

function shopIdOf(tenant: TenantState | undefined, idOrName: string): Outcome<string, NamedShopCode> {
  const knownTenant = unlessErased(tenant);
  if (knownTenant === undefined) return ERASED;
  const named = namedShop(knownTenant, idOrName);
  return named.ok ? done(named.value.id) : named;
}

/** Finds a shop by id, or else by name in any case (docs/contract.md, Conventions). */
function namedShop({ shops }: TenantState, idOrName: string): Outcome<ShopRecord, NamedShopCode> {
  const byId = shops.get(idOrName) ?? (isObjectId(idOrName) ? shops.get(idOrName.toLowerCase()) : undefined);
  return byId === undefined ? shopByName({ shops }, idOrName) : done(byId);
}

// Separate, so that a call by id makes no closure (docs/decisions/012-value-or-promise.md, Closures and arrays).
function shopByName(
  { shops }: Pick<TenantState, 'shops'>,
  idOrName: string,
): Outcome<ShopRecord, NamedShopCode> {
  const name = foldedName(idOrName);
  const [shop, ...otherShops] = [...shops.values()].filter((shop) => foldedName(shop.name) === name);
  if (shop === undefined) return failed('SHOP_NOT_FOUND');
  if (otherShops.length === 0) return done(shop);
  return failed('AMBIGUOUS_SHOP', { candidates: [shop, ...otherShops].map(({ id }) => id) });
}
