import { createHash } from 'node:crypto';
import { type Address, addressText, shardKey } from '../../../runtime/address.ts';
import { memoizePairs } from '../../../runtime/memoize.ts';
import { tenantAddress } from '../../tenant/tenant-keys.ts';
import type { ShopReference } from './shop-operations.ts';

/** The address of a shop's actor. A tenant and its shops share a shard. */
export function shopAddress({ tenantId, shopId }: ShopReference): Address {
  return addressOf(tenantId, shopId);
}

/**
 * Every send asks; a shop's actor, its turns and the table it is found in then share one text as well. Some 0.3 KB each: more
 * shops than a node has active.
 */
const REMEMBERED_SHOPS = 50_000;

const addressOf = memoizePairs(REMEMBERED_SHOPS, (tenantId: string, shopId: string): Address => {
  const { shard } = tenantAddress(tenantId);
  const address = { shard, kind: 'shop', id: `${tenantId}/${shopId}` };
  return { ...address, text: addressText(address) };
});

/** The shop an address names. */
export function shopOf(address: Pick<Address, 'id'>): ShopReference {
  const [tenantId = '', shopId = ''] = address.id.split('/');
  return { tenantId, shopId };
}

/**
 * Where an idempotency key points to the id of its message or status, which know nothing of each other's. The caller's
 * key is hashed, so that its length and bytes do not matter.
 */
export function idempotencyKey(
  shard: number,
  { shopId, kind }: { readonly shopId: string; readonly kind: 'message' | 'status' },
  key: string,
): string {
  const part = kind === 'message' ? 'idempotency' : 'status-idempotency';
  return shardKey(shard, 'shop', shopId, part, createHash('sha256').update(key).digest('base64url'));
}

/** The keys of one shop, beside its messages, idempotency keys and credentials. */
export interface ShopKeys {
  /** Hash: `actor` (both machines), `msgapp` (public channel status), `settled` (how many of `accepted` have ended). */
  readonly shop: string;
  /** List: what the shop was let send, in order; index, queue and ledger at once (`accepted-list.ts`). */
  readonly accepted: string;
  /** Sorted sets, score 0: ids of messages that ended so. */
  readonly failed: string;
  readonly rejected: string;
  /**
   * Hash by phone, or by the network's own id of a person (LID) while it tells no number: who wrote to the shop, when
   * last, and whether to stop.
   */
  readonly writers: string;
  /** Hash by the number a caller wrote, or by a LID: the number the network knows that person by, in E.164. */
  readonly aliases: string;
  /** Hash by message id: messages of this shop that go through the pool and have not ended. */
  readonly pooled: string;
  /** Sorted set, score 0: ids of other shops' messages that this shop of the pool has not yet sent. */
  readonly carried: string;
  /**
   * Sorted set by time in milliseconds: `address tenant/shop` of whom this shop of the pool wrote to and for which shop,
   * two days long.
   */
  readonly carriedFor: string;
  /** Hash by shop and person: opt-outs that other shops still have to be told of. */
  readonly optOutNotices: string;
}

/** Names the keys of a shop. */
export function shopKeys(shard: number, shopId: string): ShopKeys {
  const key = (...parts: string[]): string => shardKey(shard, 'shop', shopId, ...parts);
  return {
    shop: key(),
    accepted: key('accepted'),
    failed: key('failed'),
    rejected: key('rejected'),
    writers: key('writers'),
    aliases: key('aliases'),
    pooled: key('pooled'),
    carried: key('carried'),
    carriedFor: key('carried-for'),
    optOutNotices: key('opt-out-notices'),
  };
}
