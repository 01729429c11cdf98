import { type Address, addressText, shardKey, shardOf } from '../../runtime/address.ts';
import { memoize, rememberLast } from '../../runtime/memoize.ts';

/** Callers return, and so do their shops for their tenant's keys. */
const REMEMBERED_TENANTS = 10_000;

/** Returns the address of a tenant's actor. Every call needs it at least four times. */
export const tenantAddress = rememberLast(
  memoize(REMEMBERED_TENANTS, (id: string): Address => {
    return { shard: shardOf(id), kind: 'tenant', id, text: addressText({ kind: 'tenant', id }) };
  }),
);

export interface TenantKeys {
  /** String: the tenant's record. */
  readonly record: string;
  /** String: the number at which the owner is notified; learned from the first connection when the owner has none. */
  readonly ownerNumber: string;
  /** Hash by key id: the records of API keys, with the hash of each. */
  readonly apiKeys: string;
  /** Hash by shop id: the records of shops. */
  readonly shops: string;
  /** Set of ids of shops with a decided, unfinished erasure. */
  readonly erasing: string;
  /** Set of ids of people with a decided, unfinished erasure. */
  readonly erasingPeople: string;
  /** Set of phone numbers of stored customers. */
  readonly customers: string;
  /** Hash by phone: declared contacts. */
  readonly contacts: string;
  /** Sorted set, score 0: `id:phone` of declared contacts, for lists. */
  readonly contactOrder: string;
  /** List: the number of declarations by time, for the daily limit. */
  readonly declared: string;
  /** Hash: window state by key id, and `quota`. */
  readonly usage: string;
  /** Hash by number, digits only: the shop that has it, or had it last (`actors/shops/number-past/number-use.ts`). */
  readonly numbers: string;
  /** Set: keys of the archived data of erased shops' numbers, so that it is erased with the tenant. */
  readonly numbersLeft: string;
  /**
   * Hash: ids of people by a digest of their address. Under `merged ` and an id it has the id that replaced it. Each
   * value ends in the day on which it last counted. Under `swept`: the day on which old entries were last dropped.
   */
  readonly personIds: string;
  /** Stream: the events of the tenant's shops, for its own readers. */
  readonly events: string;
  /** Hash by webhook id: endpoints that the tenant's events are sent to, secrets sealed. */
  readonly webhooks: string;
  /** Hash by webhook id: the progress of each. */
  readonly webhookProgress: string;
  /** Stream: the last attempts of all endpoints. */
  readonly webhookAttempts: string;
  /** Streams: copies of the two above while the entries of an erased shop are left out. */
  readonly eventsKept: string;
  readonly attemptsKept: string;
  /** Hash by stream: the erasure's name, and the last entry that was read. */
  readonly streamErasures: string;
}

/** Returns the keys of a tenant; memoized, so that caches compare the same text object. */
export const tenantKeys = memoize(REMEMBERED_TENANTS, (tenantId: string): TenantKeys => {
  const shard = shardOf(tenantId);
  const key = (...parts: string[]): string => shardKey(shard, 'tenant', tenantId, ...parts);
  return {
    record: key(),
    ownerNumber: key('owner-number'),
    apiKeys: key('api-keys'),
    shops: key('shops'),
    erasing: key('erasing'),
    erasingPeople: key('erasing-people'),
    customers: key('customers'),
    contacts: key('contacts'),
    contactOrder: key('contact-order'),
    declared: key('declared'),
    usage: key('usage'),
    numbers: key('numbers'),
    numbersLeft: key('numbers-left'),
    personIds: key('person-ids'),
    events: key('events'),
    webhooks: key('webhooks'),
    webhookProgress: key('webhook-progress'),
    webhookAttempts: key('webhook-attempts'),
    eventsKept: key('events', 'kept'),
    attemptsKept: key('webhook-attempts', 'kept'),
    streamErasures: key('stream-erasures'),
  };
});

/** Returns the key of the set of the tenants of a shard, written with each tenant. The directory is rebuilt from it. */
export function tenantsOfShardKey(shard: number): string {
  return shardKey(shard, 'tenants');
}
