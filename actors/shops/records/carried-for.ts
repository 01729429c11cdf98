/** The recipients of a pool shop's last two days, with the shops that it wrote for. */
import { isSameRecipient } from '../../../policy/number-forms.ts';
import { DAY_MS } from '../../../runtime/durations.ts';
import type { Read, Write } from '../../../runtime/store.ts';
import type { ShopReference } from '../shop-operations.ts';
import type { ShopKeys } from './shop-keys.ts';

/** How long a person's reply counts for the shop whose message this shop carried to them. */
const ANSWER_COUNTS_MS = 2 * DAY_MS;

type Keys = Pick<ShopKeys, 'carriedFor'>;

/** Stores that a message leaves for a shop, to a person known by these addresses. Removes entries that are too old. */
export function carriedForWrites(
  { carriedFor }: Keys,
  message: { readonly addresses: readonly string[]; readonly origin: ShopReference; readonly nowMs: number },
): Write[] {
  const { addresses, origin, nowMs } = message;
  const member = (address: string): string => `${address} ${origin.tenantId}/${origin.shopId}`;
  return [
    ['ZADD', carriedFor, ...addresses.flatMap((address) => [nowMs, member(address)])],
    ['ZREMRANGEBYSCORE', carriedFor, '-inf', nowMs - ANSWER_COUNTS_MS],
  ];
}

/** Returns the read for `originsOf`: at most the sends of a number in two days. */
export function carriedForRead({ carriedFor }: Keys, nowMs: number): Read<'ZRANGE'> {
  return ['ZRANGE', carriedFor, nowMs - ANSWER_COUNTS_MS, '+inf', 'BYSCORE'];
}

/** Returns the shops for which this address was written to in the last two days. */
export function originsOf(carriedFor: readonly string[], fromText: string): ShopReference[] {
  const origins = new Map<string, ShopReference>();
  for (const member of carriedFor) {
    const [address = '', origin = ''] = member.split(' ');
    const [tenantId = '', shopId = ''] = origin.split('/');
    if (isSameRecipient(address, fromText)) origins.set(origin, { tenantId, shopId });
  }
  return [...origins.values()];
}
