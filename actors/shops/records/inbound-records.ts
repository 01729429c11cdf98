/**
 * People's messages to a shard's shops on one day are one hash, as its messages are (message-days.ts). The owner is
 * under an id, followed by the sealed rest. A message that was read also has `id:read`. The hash expires as a whole.
 */
import { shardKey } from '../../../runtime/address.ts';
import type { Store, Write } from '../../../runtime/store.ts';
import type { InboundKind, InboundMedia } from '../../inbound-content.ts';
import type { ShopReference } from '../shop-operations.ts';
import { dayEndsMs, dayOfMessage } from './message-days.ts';
import type { NumberVault } from './number-vault.ts';

/** The owner of an inbound message: the part that is stored in the clear. */
export interface InboundOwner extends ShopReference {
  /** The id of the person who wrote; it does not reveal a number. */
  readonly fromId: string;
}

/** A message that a person wrote to a shop, as it is read. Times are in milliseconds since the Unix epoch. */
export interface InboundRecord extends InboundOwner {
  readonly id: string;
  /** E.164 with plus, or null if the network sends no number. */
  readonly from: string | null;
  /** The network's own id of the person (ending in `@lid`), if the network sent one. */
  readonly lid: string | null;
  readonly name: string | null;
  /** The network's stamp. */
  readonly atMs: number;
  readonly kind: InboundKind;
  /** Null if the message has no text, or if the tenant receives no texts. */
  readonly text: string | null;
  /** The id of our message that it quotes or reacts to; stored under the name that the API has for it. */
  readonly replyTo: string | null;
  /** Null if the message has no attachment, or if the tenant receives no texts. */
  readonly media: InboundMedia | null;
  /** The network's id of the stanza. */
  readonly wireId: string;
}

/** A stored inbound message, and when it was marked as read. */
export interface StoredInbound {
  readonly record: InboundRecord;
  readonly readAtMs: number | null;
}

/** Returns the key of the hash of inbound messages to a shard's shops on one day. */
export function inboundKey(shard: number, day: number): string {
  return shardKey(shard, 'inbound', String(day));
}

/** Stores an inbound message. Its owner stays readable, and the rest is sealed. */
export function inboundWrite(shard: number, record: InboundRecord, vault: NumberVault): Write {
  const { id, tenantId, shopId, fromId, ...content } = record;
  const sealedText = vault.seal(useOf(id, { tenantId, shopId, fromId }), JSON.stringify(content));
  return ['HSET', inboundKey(shard, dayOfMessage(id)), id, `${tenantId} ${shopId} ${fromId} ${sealedText}`];
}

/** Returns the write that expires a message's day after `retentionMs`. */
export function inboundExpiry(shard: number, id: string, retentionMs: number): Write {
  const day = dayOfMessage(id);
  return ['PEXPIREAT', inboundKey(shard, day), dayEndsMs(day, retentionMs)];
}

/** Stores when a message was marked as read. */
export function inboundReadWrite(shard: number, id: string, readAtMs: number): Write {
  return ['HSET', inboundKey(shard, dayOfMessage(id)), readField(id), readAtMs];
}

/** Erases an inbound message, and the time at which it was read. */
export function inboundErasure(shard: number, id: string): Write {
  return ['HDEL', inboundKey(shard, dayOfMessage(id)), id, readField(id)];
}

function readField(id: string): string {
  return `${id}:read`;
}

/** Binds a sealed text to its message. */
function useOf(id: string, { tenantId, shopId, fromId }: InboundOwner): string {
  return `inbound ${tenantId} ${shopId} ${fromId} ${id}`;
}

/** Returns the owner of the stored message; undefined if it is gone. */
export function inboundOwner(text: string | null | undefined): InboundOwner | undefined {
  if (text == null) return undefined;
  const [tenantId = '', shopId = '', fromId = ''] = text.split(' ', 3);
  return { tenantId, shopId, fromId };
}

/**
 * Returns inbound messages in the order of their ids. An entry is undefined if the message was removed, or no
 * configured key opens it.
 */
export async function readInboundRecords(
  shard: number,
  ids: readonly string[],
  { store, vault }: { readonly store: Pick<Store, 'read'>; readonly vault: Pick<NumberVault, 'open'> },
): Promise<(StoredInbound | undefined)[]> {
  if (ids.length === 0) return [];
  const lookups = ids.map((id) => ['HMGET', inboundKey(shard, dayOfMessage(id)), id, readField(id)] as const);
  const replies = await store.read(lookups);
  return ids.map((id, index) => {
    const [text, readAt] = replies[index] ?? [];
    const owner = inboundOwner(text);
    if (text == null || owner === undefined) return undefined;
    const sealedText = text.slice(text.lastIndexOf(' ') + 1);
    const record = openRecord(id, owner, sealedText, vault);
    return record && { record, readAtMs: readAt == null ? null : Number(readAt) };
  });
}

function openRecord(
  id: string,
  owner: InboundOwner,
  sealedText: string,
  vault: Pick<NumberVault, 'open'>,
): InboundRecord | undefined {
  try {
    const content = JSON.parse(vault.open(useOf(id, owner), sealedText)) as Omit<
      InboundRecord,
      'id' | keyof InboundOwner
    >;
    return { id, ...owner, ...content };
  } catch {
    return undefined;
  }
}
