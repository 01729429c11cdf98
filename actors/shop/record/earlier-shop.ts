import type { Address } from '../../../runtime/address.ts';
import type { Store, Write } from '../../../runtime/store.ts';
import { isEarlierVersion, withPresentVersion } from '../machines/shop-machines.ts';
import { earlierMessage, earlierMessageKey, earlierShopKeys } from './earlier-keys.ts';
import { dayExpiry, dayOfMessage, messageCopy } from './message-days.ts';
import { shopKeys, shopOf } from './shop-keys.ts';

/** How many elements one command carries. */
const ELEMENTS_PER_COMMAND = 1_000;

/**
 * Brings what version 1 stored of a shop to this program's form, in one commit: its index, queue and ledger become the
 * list of what it accepted, and the messages that wait move to the hashes of their days. Nothing else is touched: what
 * has ended is read where it lies. Done twice it is as done once, also where both began before either was applied.
 * Rejects with `RuntimeFailure`.
 */
export async function bringUpToDate(address: Address, store: Store, retentionMs: number): Promise<void> {
  const { shard } = address;
  const { shopId } = shopOf(address);
  const keys = shopKeys(shard, shopId);
  const earlier = earlierShopKeys(keys.shop);
  // The version comes last: while it is the earlier one, what was read before it was all there.
  const [ids, waiting, ledger, actor] = (await store.read([
    ['ZRANGE', earlier.messages, 0, -1],
    ['ZRANGE', earlier.queue, 0, -1],
    ['LRANGE', earlier.ledger, 0, -1],
    ['HGET', keys.shop, 'actor'],
  ])) as [string[], string[], string[], string | null];
  if (actor === null || !isEarlierVersion(actor)) return;
  const bodies = (await store.read(waiting.map((id) => earlierMessage(shard, id)))) as (string | null)[][];
  const waits = new Set(waiting);
  const oldest = ids.findIndex((id) => waits.has(id));
  const settled = oldest === -1 ? ids.length : oldest;
  const writes: Write[] = [
    ['HSET', keys.shop, 'actor', withPresentVersion(actor), 'settled', settled],
    ['DEL', keys.accepted],
  ];
  // The index stands before the ledger: each is in its own order, and neither has the other's part of an element.
  const elements = [...ids, ...ledger];
  for (let from = 0; from < elements.length; from += ELEMENTS_PER_COMMAND) {
    writes.push(['RPUSH', keys.accepted, ...elements.slice(from, from + ELEMENTS_PER_COMMAND)]);
  }
  for (const [index, id] of waiting.entries()) {
    const copy = messageCopy(shard, id, bodies[index] ?? []);
    if (copy !== undefined) writes.push(copy, ['DEL', earlierMessageKey(shard, id)]);
  }
  for (const day of new Set(waiting.map(dayOfMessage))) writes.push(dayExpiry(shard, day, retentionMs));
  for (const key of Object.values(earlier) as string[]) writes.push(['DEL', key]);
  await store.commit(shard, writes);
}
