import { createHash } from 'node:crypto';
import { type Address, addressText, shardKey } from '../../../runtime/address.ts';
import { memoizePairs } from '../../../runtime/memoize.ts';
import { tenantAddress } from '../../tenants/tenant-keys.ts';
import type { ShopReference } from '../shop-operations.ts';

/** Returns the address of a shop's actor. A tenant and its shops share a shard. */
export function shopAddress({ tenantId, shopId }: ShopReference): Address {
  return addressOf(tenantId, shopId);
}

/**
 * Every send uses it. A shop's actor, its turns and the table that finds it then also share one text. About 0.3 KB
 * each; the limit is above the number of active shops on a node.
 */
const REMEMBERED_SHOPS = 50_000;

const addressOf = memoizePairs(REMEMBERED_SHOPS, (tenantId: string, shopId: string): Address => {
  const { shard } = tenantAddress(tenantId);
  const id = `${tenantId}/${shopId}`;
  return { shard, kind: 'shop', id, text: addressText({ kind: 'shop', id }) };
});

/** Returns the shop that an actor's address names. */
export function shopOf(address: Pick<Address, 'id'>): ShopReference {
  const [tenantId = '', shopId = ''] = address.id.split('/');
  return { tenantId, shopId };
}

/**
 * Returns the key of the message or status id for an idempotency key. Messages and statuses use separate ones. The
 * caller's key is hashed, so that its length and bytes do not matter.
 */
export function idempotencyRedisKey(
  shard: number,
  { shopId, kind }: { readonly shopId: string; readonly kind: 'message' | 'status' },
  key: string,
): string {
  const part = kind === 'message' ? 'idempotency' : 'status-idempotency';
  return shardKey(shard, 'shop', shopId, part, keyDigest(key));
}

function keyDigest(idempotencyKey: string): string {
  return createHash('sha256').update(idempotencyKey).digest('base64url');
}

const KEY_FIELD = 'key:';

/** Returns the field of a hash of batches or scheduled sends under which an idempotency key points to an id. */
export function keyField(idempotencyKey: string): string {
  return KEY_FIELD + keyDigest(idempotencyKey);
}

/** True for such a field. All other fields of these hashes are ids. */
export function isKeyField(field: string): boolean {
  return field.startsWith(KEY_FIELD);
}

/** The endings of a shop's keys, in addition to the key that is its name alone. */
const PARTS = [
  'accepted',
  'failed',
  'rejected',
  'writers',
  'aliases',
  'pooled',
  'carried',
  'carried-for',
  'opt-out-notices',
  'scheduled',
  'scheduled-drafts',
  'batches',
  'inbound',
  'inbound-heard',
] as const;

/**
 * The keys of one shop, without those of its messages, idempotency keys and credentials, and those named after a day or
 * a batch. Keys that every send uses are stored, the others are made when used. A node has ten thousand shops, and a
 * key takes a hundred bytes.
 */
export class ShopKeys {
  /**
   * Hash: `actor` (both machines), `msgapp` (public channel status), `settled` (how many of `accepted` have ended).
   * Also `limits` (of the network), `undelivered`, and `egress` (its proxy, sealed), which 0.2.0 does not know.
   */
  readonly shop: string;
  /** List of the shop's accepted sends, in order. It is index, queue and ledger at once (`accepted-list.ts`). */
  readonly accepted: string;
  /**
   * Hash by phone, or by the network's own id (LID) of a person without a known number. The values: when they last
   * wrote, and if they opted out.
   */
  readonly writers: string;
  /**
   * Hash by the number that a caller wrote, or by a LID. The value is the number that the network knows that person by,
   * in E.164, or the LID itself if none is known.
   */
  readonly aliases: string;

  constructor(shard: number, shopId: string) {
    this.shop = shardKey(shard, 'shop', shopId);
    this.accepted = keyOf(this.shop, 'accepted');
    this.writers = keyOf(this.shop, 'writers');
    this.aliases = keyOf(this.shop, 'aliases');
  }

  /** Sorted set, score 0: ids of messages that ended so. */
  get failed(): string {
    return keyOf(this.shop, 'failed');
  }

  /** Like `failed`, for rejected messages. */
  get rejected(): string {
    return keyOf(this.shop, 'rejected');
  }

  /** Hash by message id: messages of this shop that go through the pool and have not ended. */
  get pooled(): string {
    return keyOf(this.shop, 'pooled');
  }

  /** Sorted set, score 0: ids of other shops' messages that have not ended at this shop of the pool. */
  get carried(): string {
    return keyOf(this.shop, 'carried');
  }

  /**
   * Sorted set by time in milliseconds: `address tenant/shop` for each recipient of this pool shop and the shop it sent
   * for, two days long.
   */
  get carriedFor(): string {
    return keyOf(this.shop, 'carried-for');
  }

  /** Hash by shop and person: opt-outs that must still be reported to other shops. */
  get optOutNotices(): string {
    return keyOf(this.shop, 'opt-out-notices');
  }

  /** Sorted set with score 0: ids of inbound messages to the shop. */
  get inbound(): string {
    return keyOf(this.shop, 'inbound');
  }

  /** Sorted set by time in milliseconds: digests of the stanzas that were published to the shop's tenant. */
  get inboundReceived(): string {
    return keyOf(this.shop, 'inbound-heard');
  }

  /** Hash by id: when scheduled sends are due; under a digest of an idempotency key the id. */
  get scheduled(): string {
    return keyOf(this.shop, 'scheduled');
  }

  /** Hash by id: the content of scheduled sends. */
  get scheduledDrafts(): string {
    return keyOf(this.shop, 'scheduled-drafts');
  }

  /** Hash by id: the progress of batches that have not ended; under a digest of an idempotency key the id. */
  get batches(): string {
    return keyOf(this.shop, 'batches');
  }

  /** Returns all of them, for the erasure of the shop. */
  all(): string[] {
    return [this.shop, ...PARTS.map((part) => keyOf(this.shop, part))];
  }
}

function keyOf(shop: string, part: (typeof PARTS)[number]): string {
  return `${shop}:${part}`;
}

/** Returns the keys of a shop of this shard. */
export function shopKeys(shard: number, shopId: string): ShopKeys {
  return new ShopKeys(shard, shopId);
}
