import type { RateLimits } from '../../policy/key-limits.ts';
import type { PlanName } from '../../policy/plan.ts';
import type { SettingsTuning } from '../../policy/tenant-settings.ts';
import type { ActorSnapshot } from '../../runtime/actors.ts';
import type { Outcome } from '../failure.ts';
import type { ShopReference } from '../shop/record/shop-operations.ts';
import type { ShopCensus } from '../shop/view/shop-census.ts';
import type { ShopGlance } from '../shop/view/shop-summary.ts';
import type { Permission } from '../tenant/permission.ts';
import type { CursorPage, ShopView } from '../tenant/tenant-operations.ts';

/** Who owns a tenant's account, and where the owner is notified (E.164). */
export interface TenantOwner {
  readonly name: string;
  readonly notificationNumber: string | null;
}

/** An owner as operators give it: a number that is absent stays, null takes it away. */
interface OwnerChange extends Pick<TenantOwner, 'name'> {
  readonly notificationNumber?: string | null | undefined;
}

/** A tenant as operators see it. Times are ISO 8601 in UTC. */
export interface TenantView {
  readonly id: string;
  readonly name: string;
  readonly plan: PlanName;
  readonly active: boolean;
  readonly owner: TenantOwner | null;
  /** Only what was tuned away from the defaults. */
  readonly settings: SettingsTuning;
  readonly poolFallback: boolean;
  readonly platform: boolean;
  readonly createdAt: string;
}

/** A tenant and how its actor stands: while that is not `active`, every call of the tenant waits or is refused. */
export interface SupervisedTenant extends TenantView {
  readonly actor: Pick<ActorSnapshot, 'status' | 'restarts' | 'lastError'>;
}

/** What may be given at creation or changed later; absent: unchanged (defaults at creation). */
export interface TenantChanges {
  readonly name?: string | undefined;
  readonly plan?: PlanName | undefined;
  readonly active?: boolean | undefined;
  readonly owner?: OwnerChange | null | undefined;
  /** Merged per setting; null returns one to its default. Values are checked against floor and roof: VALIDATION_ERROR. */
  readonly settings?: SettingsTuning | undefined;
  readonly poolFallback?: boolean | undefined;
  readonly platform?: boolean | undefined;
}

/** A key as operators see it; never its value. */
export interface KeyView {
  readonly id: string;
  readonly name: string;
  readonly permissions: readonly Permission[];
  readonly expiresAt: string | null;
  readonly ipAllowlist: readonly string[];
  readonly limits: RateLimits;
  readonly createdAt: string;
  readonly rotatedAt: string | null;
  readonly revokedAt: string | null;
}

/** What a new key is made from, valid in shape. */
export interface KeyDraft {
  readonly name: string;
  readonly permissions: readonly Permission[];
  readonly expiresAt: string | null;
  readonly ipAllowlist: readonly string[];
  readonly limits: RateLimits;
}

/** What operators do with one tenant, on the node that owns its shard. Missing things fail NOT_FOUND. Rejects only with `RuntimeFailure`. */
export interface OperatorOperations {
  /** `tenantId` was made by the caller, so that the request could be routed to its shard. Doing it twice is done once. */
  createTenant(
    tenantId: string,
    tenant: TenantChanges & { readonly name: string },
  ): Promise<Outcome<TenantView>>;
  /** Also of a suspended one, as its last commit left it. */
  tenant(tenantId: string): Promise<Outcome<SupervisedTenant>>;
  /** Starts a suspended or crashed one again, and answers it as it stands then; one that runs goes on. */
  resumeTenant(tenantId: string): Promise<Outcome<SupervisedTenant>>;
  changeTenant(tenantId: string, changes: TenantChanges): Promise<Outcome<TenantView>>;
  /** Erasure: sessions ended, credentials, messages, keys, contacts and windows gone. */
  deleteTenant(tenantId: string): Promise<Outcome<{ readonly id: string; readonly deleted: true }>>;
  deleteShop(shop: ShopReference): Promise<Outcome<{ readonly id: string; readonly deleted: true }>>;
  importShop(
    tenantId: string,
    shop: { readonly name: string; readonly phone: string | undefined },
  ): Promise<Outcome<ShopView>>;
  /** Numbers the tenant's customer records hold; they make recipients known. */
  addCustomers(tenantId: string, phones: readonly string[]): Promise<Outcome<{ readonly added: number }>>;
  createKey(
    tenantId: string,
    key: KeyDraft,
  ): Promise<Outcome<{ readonly key: string; readonly record: KeyView }>>;
  listKeys(tenantId: string): Promise<Outcome<readonly KeyView[]>>;
  /** The old value stops at once. */
  rotateKey(
    tenantId: string,
    keyId: string,
  ): Promise<Outcome<{ readonly key: string; readonly record: KeyView }>>;
  revokeKey(tenantId: string, keyId: string): Promise<Outcome<KeyView>>;
  /** A shop's queue is paused or goes on by an operator's hand. */
  pause(shop: ShopReference): Promise<Outcome<Record<string, unknown>>>;
  resume(shop: ShopReference): Promise<Outcome<Record<string, unknown>>>;
  restart(shop: ShopReference): Promise<Outcome<Record<string, unknown>>>;
  passivate(shop: ShopReference): Promise<Outcome<Record<string, unknown>>>;
  /** The actor as it stands, activated if it sleeps. */
  snapshot(shop: ShopReference): Promise<Outcome<Record<string, unknown>>>;
}

/** What operators ask of the whole, on any node; each asks the other nodes where needed. */
export interface FleetOperations {
  /** From the operators' directory, a projection. Newest first. */
  listTenants(query: {
    readonly limit: number;
    readonly cursor: string | undefined;
    readonly q: string | undefined;
  }): Promise<CursorPage<TenantView>>;
  /** Shows all shops active on this node and suspended ones as they stand now, a few at a time. */
  eachShop(visit: (shop: ShopGlance) => void): Promise<void>;
  /** One of them by the id of its glance, as `snapshot` tells it, of a long queue the head alone. Undefined: gone. */
  localShop(id: string): Record<string, unknown> | undefined;
  /** How the shops of this node stand, as of the last second. */
  census(): Promise<ShopCensus>;
  /** This node's name, and whether its sending component takes orders. */
  self(): { readonly nodeId: string; readonly workers: 'available' | 'lost' };
  nodes(): Promise<readonly Record<string, unknown>[]>;
  /** Who owns each shard, as this node last heard; null: nobody. */
  shards(): readonly { readonly shard: number; readonly nodeId: string | null; readonly epoch: number }[];
  deadLetters(query: {
    readonly limit: number;
    readonly cursor: string | undefined;
  }): Promise<CursorPage<Record<string, unknown>>>;
  replayDeadLetter(id: string): Promise<Outcome<Record<string, unknown>>>;
}

/** Finds the tenant of a key, on any node: a mapping that never changes once made. `undefined`: no such key. */
export interface KeyDirectory {
  tenantOfKey(keyHash: string): string | undefined | Promise<string | undefined>;
}
