import { type Address, shardKey, shardOf } from '../../runtime/address.ts';

/** Callers come again, and every call asks for its tenant's address several times. */
const REMEMBERED_ADDRESSES = 10_000;
const remembered = new Map<string, Address>();

/** The address of a tenant's actor. */
export function tenantAddress(tenantId: string): Address {
  const known = remembered.get(tenantId);
  if (known !== undefined) return known;
  const address = { shard: shardOf(tenantId), kind: 'tenant', id: tenantId };
  if (remembered.size >= REMEMBERED_ADDRESSES) remembered.clear();
  remembered.set(tenantId, address);
  return address;
}

/** The keys of one tenant. */
export interface TenantKeys {
  /** String: the tenant's record. */
  readonly record: string;
  /** String: where the owner is notified; learned from the first connection when the owner has none. */
  readonly ownerNumber: string;
  /** Hash by key id: the records of API keys, with the hash of each. */
  readonly apiKeys: string;
  /** Hash by shop id: the records of shops. */
  readonly shops: string;
  /** Set of shop ids whose erasure was decided and is not finished. */
  readonly erasing: string;
  /** Set of phone numbers of stored customers. */
  readonly customers: string;
  /** Hash by phone: declared contacts. */
  readonly contacts: string;
  /** Sorted set, score 0: `id:phone` of declared contacts, for lists. */
  readonly contactOrder: string;
  /** List: how many numbers were declared when, for the daily ceiling. */
  readonly declared: string;
  /** Hash: window state by key id, and `quota`. */
  readonly usage: string;
}

/** Names the keys of a tenant. */
export function tenantKeys(shard: number, tenantId: string): TenantKeys {
  const key = (...parts: string[]): string => shardKey(shard, 'tenant', tenantId, ...parts);
  return {
    record: key(),
    ownerNumber: key('owner-number'),
    apiKeys: key('api-keys'),
    shops: key('shops'),
    erasing: key('erasing'),
    customers: key('customers'),
    contacts: key('contacts'),
    contactOrder: key('contact-order'),
    declared: key('declared'),
    usage: key('usage'),
  };
}

/** The set of the tenants of a shard, written with each tenant: what the directory is rebuilt from. */
export function tenantsOfShardKey(shard: number): string {
  return shardKey(shard, 'tenants');
}
