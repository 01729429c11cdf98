import { recipientKey } from '../../../policy/number-forms.ts';
import type { Store, Write } from '../../../runtime/store.ts';
import type { ShopKeys } from '../records/shop-keys.ts';
import { allThatCount, newestRead } from '../state/newest-accepted.ts';
import { readLedger } from '../state/stored-ledger.ts';

/** A shop's data, and the moment of the erasure. */
interface ShopSources {
  readonly shard: number;
  readonly keys: Pick<ShopKeys, 'accepted' | 'aliases' | 'writers'>;
  readonly nowMs: number;
}

/**
 * Removes those of a person's network ids (LIDs) that a shop keeps only because a number may follow (`linkLid`). An id
 * stays if a message came from it, or if a message to it counts. A waiting message counts, too. All ids stay if the
 * list of messages is unreadable. The shop may use an id again meanwhile, and `readSender` then links it.
 */
export async function forgetUnusedIds(
  lids: readonly string[],
  { shard, keys, nowMs }: ShopSources,
  store: Pick<Store, 'read' | 'commit'>,
): Promise<void> {
  if (lids.length === 0) return;
  const [aliases, writers] = await store.read([
    ['HMGET', keys.aliases, ...lids],
    ['HMGET', keys.writers, ...lids],
  ]);
  const withoutNumber = lids.filter((lid, index) => aliases[index] === lid && writers[index] === null);
  if (withoutNumber.length === 0) return;
  const [newestPart] = await store.read([newestRead(keys.accepted)]);
  const elements = await allThatCount(keys.accepted, newestPart, { store, nowMs });
  const { ledger, isUnreadable } = readLedger(elements, nowMs);
  if (isUnreadable) return;
  const unusedIds = withoutNumber.filter(
    (lid) => ledger.messageTimesMs({ recipient: recipientKey(lid), nowMs }).length === 0,
  );
  if (unusedIds.length === 0) return;
  // An id may be linked to a number meanwhile.
  await store.commit(
    shard,
    unusedIds.map((lid): Write => ['HDELIF', keys.aliases, lid, lid]),
  );
}
