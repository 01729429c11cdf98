import { type Address, addressText, shardKey, shardOf } from '../../runtime/address.ts';
import { memoize, rememberLast } from '../../runtime/memoize.ts';

/** Callers return, and so do their shops for their tenant's keys. */
const REMEMBERED_TENANTS = 10_000;

/** Returns the address of a tenant's actor. A call needs it several times. */
export const tenantAddress = rememberLast(
  memoize(REMEMBERED_TENANTS, (id: string): Address => {
    return { shard: shardOf(id), kind: 'tenant', id, text: addressText({ kind: 'tenant', id }) };
  }),
);

/** Returns the keys of a tenant; memoized, so that caches compare the same text object. */
export const tenantKeys = memoize(REMEMBERED_TENANTS, (tenantId: string) => {
  const shard = shardOf(tenantId);
  const key = (...parts: string[]): string => shardKey(shard, 'tenant', tenantId, ...parts);
  return {
    /** String: the tenant's record. */
    record: key(),
    /** String: the number at which the owner is notified; learned from the first connection when the owner has none. */
    ownerNumber: key('owner-number'),
    /** Hash by key id: the records of API keys, with the hash of each. */
    apiKeys: key('api-keys'),
    /** Hash by shop id: the records of shops. */
    shops: key('shops'),
    /** Set of ids of shops with a decided, unfinished erasure. */
    erasing: key('erasing'),
    /** Set of ids of people with a decided, unfinished erasure. */
    erasingPeople: key('erasing-people'),
    /** Set of phone numbers of stored customers. */
    customers: key('customers'),
    /** Hash by phone: declared contacts. */
    contacts: key('contacts'),
    /** Sorted set, score 0: `id:phone` of declared contacts, for lists. */
    contactOrder: key('contact-order'),
    /** List: the number of declarations by time, for the daily limit. */
    declared: key('declared'),
    /** Hash: window state by key id, and `quota`. */
    usage: key('usage'),
    /** Hash by number, digits only: the shop that has it, or had it last (`actors/shops/number-past/number-use.ts`). */
    numbers: key('numbers'),
    /** Set: keys of the archived data of erased shops' numbers, so that it is erased with the tenant. */
    numbersLeft: key('numbers-left'),
    /**
     * Hash: ids of people by a digest of their address. Under `merged ` and an id it has the id that replaced it. Each
     * value ends in the day on which it last counted. Under `swept`: the day on which old entries were last dropped.
     */
    personIds: key('person-ids'),
    /** Stream: the events of the tenant's shops, for its own readers. */
    events: key('events'),
    /** Hash by webhook id: endpoints that the tenant's events are sent to, secrets sealed. */
    webhooks: key('webhooks'),
    /** Hash by webhook id: the progress of each. */
    webhookProgress: key('webhook-progress'),
    /** Stream: the last attempts of all endpoints. */
    webhookAttempts: key('webhook-attempts'),
    /** Streams: copies of `events` and `webhookAttempts` while erased entries are left out. */
    eventsKept: key('events', 'kept'),
    attemptsKept: key('webhook-attempts', 'kept'),
    /** Hash by stream: the erasure's name, and the last entry that was read. */
    streamErasures: key('stream-erasures'),
  };
});

export type TenantKeys = Readonly<ReturnType<typeof tenantKeys>>;

/**
 * Returns the key of the set of the tenants of a shard, written with each tenant. The operators' list is rebuilt from
 * it.
 */
export function tenantsOfShardKey(shard: number): string {
  return shardKey(shard, 'tenants');
}
