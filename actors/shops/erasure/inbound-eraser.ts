import { isObjectId } from '../../../runtime/object-id.ts';
import { hashFields, type Store, type Write } from '../../../runtime/store.ts';
import { type InboundOwner, inboundErasure, inboundKey, inboundOwner } from '../records/inbound-records.ts';
import { dayOfMessage } from '../records/message-days.ts';
import { scanHash } from '../records/scan-hash.ts';
import { type StraySources, strayDays } from '../records/stray-messages.ts';
import { ERASED_AT_ONCE } from './message-eraser.ts';

type InboundStore = Pick<Store, 'read' | 'commit'>;

/** Erases all inbound messages that a shop's index names, in short steps. */
export async function eraseListedInbound(shard: number, index: string, store: InboundStore): Promise<void> {
  for (;;) {
    const [ids] = await store.read([['ZRANGE', index, 0, ERASED_AT_ONCE - 1]]);
    if (ids.length === 0) return;
    await eraseInbound(shard, { ids, index }, store);
  }
}

/** Inbound messages, and the index of their shop that names them. */
export interface InboundStep {
  readonly ids: readonly string[];
  readonly index?: string;
}

/** Erases these messages in one commit. */
export async function eraseInbound(
  shard: number,
  { ids, index }: InboundStep,
  store: InboundStore,
): Promise<void> {
  const listWrites: Write[] = index === undefined ? [] : [['ZREM', index, ...ids]];
  await store.commit(shard, [...ids.map((id) => inboundErasure(shard, id)), ...listWrites]);
}

/** Reads the inbound messages in a shop's index that match, in short steps. Returns each step's. */
export async function* inboundAmong(
  { shard, index }: { readonly shard: number; readonly index: string },
  isWanted: (owner: InboundOwner) => boolean,
  store: Pick<Store, 'read'>,
): AsyncGenerator<InboundStep> {
  let fromId = '-';
  for (;;) {
    const [ids] = await store.read([['ZRANGE', index, fromId, '+', 'BYLEX', 'LIMIT', 0, ERASED_AT_ONCE]]);
    const lastId = ids.at(-1);
    if (lastId === undefined) return;
    fromId = `(${lastId}`;
    const texts = await store.read(ids.map((id) => ['HGET', inboundKey(shard, dayOfMessage(id)), id]));
    const matchingIds = ids.filter((_, index) => isOf(texts[index], isWanted));
    if (matchingIds.length > 0) yield { ids: matchingIds, index };
  }
}

/** Reads the matching inbound messages that no index names, in short steps. Returns each step's. */
export async function* strayInbound(
  shard: number,
  isWanted: (owner: InboundOwner) => boolean,
  sources: StraySources,
): AsyncGenerator<InboundStep> {
  for (const key of await strayDays((day) => inboundKey(shard, day), sources)) {
    for await (const pairs of scanHash(sources.store, key, ERASED_AT_ONCE)) {
      // Other fields have the times of reading. These go with their messages.
      const matchingIds = [...hashFields(pairs)].filter(
        ([id, text]) => isObjectId(id) && isOf(text, isWanted),
      );
      if (matchingIds.length > 0) yield { ids: matchingIds.map(([id]) => id) };
    }
  }
}

/** Erases the matching inbound messages that no index names. */
export async function eraseStrayInbound(
  shard: number,
  isErased: (owner: InboundOwner) => boolean,
  sources: StraySources & { readonly store: InboundStore },
): Promise<void> {
  for await (const step of strayInbound(shard, isErased, sources))
    await eraseInbound(shard, step, sources.store);
}

function isOf(text: string | null | undefined, isWanted: (owner: InboundOwner) => boolean): boolean {
  const owner = inboundOwner(text);
  return owner !== undefined && isWanted(owner);
}
