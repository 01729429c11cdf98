import type { Store } from '../../../runtime/store.ts';
import { type InboundOwner, inboundErasure, inboundKey, inboundOwner } from '../records/inbound-records.ts';
import { dayOfMessage } from '../records/message-days.ts';
import { scanHash } from '../records/scan-hash.ts';
import { strayDays } from '../records/stray-messages.ts';
import { ERASED_AT_ONCE } from './message-eraser.ts';

type InboundStore = Pick<Store, 'read' | 'commit'>;

/** Erases all inbound messages that a shop's index names, in short steps. */
export async function eraseListedInbound(shard: number, index: string, store: InboundStore): Promise<void> {
  for (;;) {
    const [ids] = (await store.read([['ZRANGE', index, 0, ERASED_AT_ONCE - 1]])) as [string[]];
    if (ids.length === 0) return;
    await store.commit(shard, [...ids.map((id) => inboundErasure(shard, id)), ['ZREM', index, ...ids]]);
  }
}

/**
 * Erases the inbound messages in a shop's index that match, in short steps. Messages that arrive meanwhile may stay.
 */
export async function eraseInboundAmong(
  { shard, index }: { readonly shard: number; readonly index: string },
  isErased: (owner: InboundOwner) => boolean,
  store: InboundStore,
): Promise<void> {
  let from = '-';
  for (;;) {
    const [ids] = (await store.read([['ZRANGE', index, from, '+', 'BYLEX', 'LIMIT', 0, ERASED_AT_ONCE]])) as [
      string[],
    ];
    const last = ids.at(-1);
    if (last === undefined) return;
    from = `(${last}`;
    const stored = await store.read(ids.map((id) => ['HGET', inboundKey(shard, dayOfMessage(id)), id]));
    const gone = ids.filter((id, at) => isOf(id, stored[at] as string | null, isErased));
    if (gone.length > 0)
      await store.commit(shard, [...gone.map((id) => inboundErasure(shard, id)), ['ZREM', index, ...gone]]);
  }
}

/** Erases inbound messages that no index names, if messages were kept for longer before. */
export async function eraseStrayInbound(
  shard: number,
  isErased: (owner: InboundOwner) => boolean,
  sources: { readonly store: InboundStore; readonly retentionMs: number; readonly nowMs: number },
): Promise<void> {
  const { store } = sources;
  for (const key of await strayDays((day) => inboundKey(shard, day), sources)) {
    for await (const pairs of scanHash(store, key, ERASED_AT_ONCE)) {
      const gone = pairs.filter((id, at) => at % 2 === 0 && isOf(id, pairs[at + 1], isErased));
      if (gone.length > 0)
        await store.commit(
          shard,
          gone.map((id) => inboundErasure(shard, id)),
        );
    }
  }
}

/** The field with the time of reading is erased too. */
function isOf(
  id: string,
  stored: string | null | undefined,
  isErased: (owner: InboundOwner) => boolean,
): boolean {
  const owner = id.includes(':') ? undefined : inboundOwner(stored);
  return owner !== undefined && isErased(owner);
}
