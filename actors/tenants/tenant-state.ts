import { DeclarationLedger } from '../../policy/declaration-limits.ts';
import type { KeyLimits } from '../../policy/limits/key-limits.ts';
import { QuotaMeter } from '../../policy/limits/quota-meter.ts';
import { resolveSettings, type TenantSettings } from '../../policy/tenant-settings.ts';
import type { Address } from '../../runtime/address.ts';
import { NewerState } from '../../runtime/runtime-failure.ts';
import { hashFields, type Store } from '../../runtime/store.ts';
import { isoOrNull } from '../iso-time.ts';
import type { Permission } from '../permission.ts';
import { ipAllowlist } from './ip-allowlist.ts';
import type { WebhookRecord } from './stored-webhooks/webhook-record.ts';
import { type TenantKeys, tenantKeys } from './tenant-keys.ts';
import type { Identity } from './tenant-operations.ts';
import type { ApiKeyRecord, ShopRecord, TenantRecord } from './tenant-record.ts';

/** A key's record with its permissions and its allowlist in forms that are quick to check. */
export interface LiveKey {
  readonly record: ApiKeyRecord;
  /** The key as `GET /me` shows it. */
  readonly view: Identity['key'];
  readonly permissions: ReadonlySet<Permission>;
  /** Returns true if an address may use the key. If undefined, any may. */
  readonly mayCallFrom: ((address: string) => boolean) | undefined;
}

/** The state of a tenant's actor. */
export interface TenantState {
  readonly tenantId: string;
  readonly shard: number;
  readonly keys: TenantKeys;
  /** Distinguishes this loading of the tenant from all others. Work started by an earlier one may store nothing. */
  readonly loading: symbol;
  readonly record: TenantRecord;
  readonly settings: TenantSettings;
  readonly ownerNumber: string | null;
  readonly apiKeys: ReadonlyMap<string, LiveKey>;
  /**
   * The keys by the hash of each value that their records have. Revoked ones are included, since their answer differs
   * from that for unknown ones.
   */
  readonly apiKeysByHash: ReadonlyMap<string, LiveKey>;
  readonly shops: ReadonlyMap<string, ShopRecord>;
  /** Ids of shops with an unfinished erasure. */
  readonly erasing: ReadonlySet<string>;
  /** Ids of people with an unfinished erasure. */
  readonly erasingPeople: ReadonlySet<string>;
  /** True once no data of the tenant is stored any more. */
  readonly isGone: boolean;
  /** Endpoints that the tenant's events are sent to, by id. */
  readonly webhooks: ReadonlyMap<string, WebhookRecord>;
  /** New declarations of the last day; changed in place once a commit succeeds. */
  readonly declared: DeclarationLedger;
  /** Calls of this month. It is changed in place at each admission and stored once a second. */
  readonly quota: QuotaMeter;
}

/** Rebuilds a tenant from its commits, at `nowMs`, or returns undefined if there is none. */
export async function loadTenant(
  address: Address,
  store: Store,
  { keyLimits, nowMs }: { readonly keyLimits: KeyLimits; readonly nowMs: number },
): Promise<TenantState | undefined> {
  const keys = tenantKeys(address.id);
  const [record, ownerNumber, apiKeys, shops, erasing, people, declared, usage, webhooks] = await store.read([
    ['GET', keys.record],
    ['GET', keys.ownerNumber],
    ['HVALS', keys.apiKeys],
    ['HVALS', keys.shops],
    ['SMEMBERS', keys.erasing],
    ['SMEMBERS', keys.erasingPeople],
    ['LRANGE', keys.declared, 0, -1],
    ['HGETALL', keys.usage],
    ['HVALS', keys.webhooks],
  ]);
  if (record === null) return undefined;
  const tenant = JSON.parse(record) as TenantRecord;
  if (tenant.version > 1) throw new NewerState('a tenant', { stored: tenant.version, known: 1 });
  const liveKeys = apiKeys.map((text) => liveKey(JSON.parse(text) as ApiKeyRecord));
  const usageFields = hashFields(usage);
  for (const { record: key } of liveKeys) {
    const state = usageFields.get(key.id);
    if (state !== undefined) keyLimits.restore({ keyId: key.id, state, nowMs });
  }
  const quota = usageFields.get('quota');
  return {
    tenantId: address.id,
    shard: address.shard,
    keys,
    loading: Symbol(address.id),
    record: tenant,
    settings: resolveSettings(tenant.settings),
    ownerNumber,
    ...indexKeys(liveKeys),
    shops: new Map(shops.map((text) => JSON.parse(text) as ShopRecord).map((shop) => [shop.id, shop])),
    erasing: new Set(erasing),
    erasingPeople: new Set(people),
    isGone: false,
    webhooks: new Map(
      webhooks.map((text) => JSON.parse(text) as WebhookRecord).map((webhook) => [webhook.id, webhook]),
    ),
    declared: DeclarationLedger.restore(declared, nowMs),
    quota: quota === undefined ? new QuotaMeter() : QuotaMeter.restore(quota, nowMs),
  };
}

/** Returns the tenant if it is there. While its data is being erased, it counts as erased. */
export function unlessErased(tenant: TenantState | undefined): TenantState | undefined {
  return tenant?.record.deleted ? undefined : tenant;
}

/** Makes a stored key quick to check. */
export function liveKey(record: ApiKeyRecord): LiveKey {
  const { id, name, permissions, expiresAtMs, createdAtMs } = record;
  return {
    record,
    view: {
      id,
      name,
      permissions,
      expiresAt: isoOrNull(expiresAtMs),
      createdAt: new Date(createdAtMs).toISOString(),
    },
    permissions: new Set(permissions),
    mayCallFrom: ipAllowlist(record.ipAllowlist),
  };
}

/** Returns the two indexes over a tenant's keys. */
export function indexKeys(keys: Iterable<LiveKey>): Pick<TenantState, 'apiKeys' | 'apiKeysByHash'> {
  const list = [...keys];
  return {
    apiKeys: new Map(list.map((key) => [key.record.id, key])),
    apiKeysByHash: new Map(
      list.flatMap((key) => {
        const { hash, retiredHashes = [] } = key.record;
        return [...retiredHashes, hash].map((eachHash) => [eachHash, key] as const);
      }),
    ),
  };
}

/** Returns the form in which names are compared: compatible characters unified (Unicode's NFKC), in lower case. */
export function foldedName(name: string): string {
  return name.normalize('NFKC').toLowerCase();
}

/** Returns the tenant's shops, newest first. */
export function shopsNewestFirst(state: TenantState): ShopRecord[] {
  return [...state.shops.values()].sort((left, right) => (left.id < right.id ? 1 : -1));
}
