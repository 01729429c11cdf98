import { recipientKey } from '../../../policy/number-forms.ts';
import type { Store } from '../../../runtime/store.ts';
import type { ShopKeys } from '../records/shop-keys.ts';
import { allThatCount, newestRead } from '../state/newest-accepted.ts';
import { countedEntries } from '../state/stored-ledger.ts';

/** A shop's data, and the moment of the erasure. */
interface Place {
  readonly shard: number;
  readonly keys: Pick<ShopKeys, 'accepted' | 'aliases' | 'writers'>;
  readonly nowMs: number;
}

/**
 * Removes those of a person's network ids (LIDs) that a shop keeps only because a number may follow (`linkLid`). An id
 * stays if a text came from it, or if a message to it counts or waits. A STOP under the later number must then stop
 * replies to the id. No message waits for longer than a day.
 */
export async function forgetUnusedIds(
  lids: readonly string[],
  { shard, keys, nowMs }: Place,
  store: Pick<Store, 'read' | 'commit'>,
): Promise<void> {
  for (const lid of lids) {
    const [alias, writer, latest] = (await store.read([
      ['HGET', keys.aliases, lid],
      ['HGET', keys.writers, lid],
      newestRead(keys.accepted),
    ])) as [string | null, string | null, string[]];
    if (alias !== lid || writer !== null) continue;
    const newest = await allThatCount(keys.accepted, latest, { store, nowMs });
    const recipient = recipientKey(lid);
    if (countedEntries(newest, nowMs).some(({ subject }) => subject === recipient)) continue;
    // The id may be linked to a number meanwhile.
    await store.commit(shard, [['HDELIF', keys.aliases, lid, lid]]);
  }
}
