import { isObjectId } from '../../../runtime/object-id.ts';
import type { Store, Write } from '../../../runtime/store.ts';
import { hashFields } from '../../hash-fields.ts';
import { type InboundOwner, inboundErasure, inboundKey, inboundOwner } from '../records/inbound-records.ts';
import { dayOfMessage } from '../records/message-days.ts';
import { scanHash } from '../records/scan-hash.ts';
import { type StraySources, strayDays } from '../records/stray-messages.ts';
import { ERASED_AT_ONCE } from './message-eraser.ts';

type InboundStore = Pick<Store, 'read' | 'commit'>;

/** Erases all inbound messages that a shop's index names, in short steps. */
export async function eraseListedInbound(shard: number, index: string, store: InboundStore): Promise<void> {
  for (;;) {
    const [ids] = (await store.read([['ZRANGE', index, 0, ERASED_AT_ONCE - 1]])) as [string[]];
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
  const unlisting: Write[] = index === undefined ? [] : [['ZREM', index, ...ids]];
  await store.commit(shard, [...ids.map((id) => inboundErasure(shard, id)), ...unlisting]);
}

/** Reads the inbound messages in a shop's index that match, in short steps. Returns each step's. */
export async function* inboundAmong(
  { shard, index }: { readonly shard: number; readonly index: string },
  isWanted: (owner: InboundOwner) => boolean,
  store: Pick<Store, 'read'>,
): AsyncGenerator<InboundStep> {
  let from = '-';
  for (;;) {
    const [ids] = (await store.read([['ZRANGE', index, from, '+', 'BYLEX', 'LIMIT', 0, ERASED_AT_ONCE]])) as [
      string[],
    ];
    const last = ids.at(-1);
    if (last === undefined) return;
    from = `(${last}`;
    const stored = await store.read(ids.map((id) => ['HGET', inboundKey(shard, dayOfMessage(id)), id]));
    const found = ids.filter((_, at) => isOf(stored[at] as string | null, isWanted));
    if (found.length > 0) yield { ids: found, index };
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
      const found = [...hashFields(pairs)].filter(([id, stored]) => isObjectId(id) && isOf(stored, isWanted));
      if (found.length > 0) yield { ids: found.map(([id]) => id) };
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

function isOf(stored: string | null, isWanted: (owner: InboundOwner) => boolean): boolean {
  const owner = inboundOwner(stored);
  return owner !== undefined && isWanted(owner);
}
