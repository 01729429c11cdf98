/**
 * A shard's messages of one day are one hash. It has the accepted content under a message's id, its state under
 * `id:state`, and its receipts under `id:receipts`. The day is read from the id, so a message is found by its id alone.
 * In Redis a commit costs by the number of keys it writes. Thousands of messages share this key, and it expires as a
 * whole.
 */
import { shardKey } from '../../../runtime/address.ts';
import { DAY_MS } from '../../../runtime/durations.ts';
import { idsFrom, madeAtMs } from '../../../runtime/object-id.ts';
import type { Lookup, Store, Write } from '../../../runtime/store.ts';
import { encodeReceipts, type MessageReceipts } from './message-receipts.ts';
import {
  decodeMessage,
  encodeBody,
  type MessageBody,
  type MessageFields,
  type MessageState,
  type StoredMessage,
} from './message-record.ts';

/** Returns the UTC day a message's id was made on, in whole days since the Unix epoch. */
export function dayOfMessage(messageId: string): number {
  return dayOf(madeAtMs(messageId));
}

/** Returns the UTC day of a moment, in whole days since the Unix epoch. */
export function dayOf(timeMs: number): number {
  return Math.floor(timeMs / DAY_MS);
}

/** Returns the end of the retention of all messages of a day; milliseconds since the Unix epoch. */
export function dayEndsMs(day: number, retentionMs: number): number {
  return (day + 1) * DAY_MS + retentionMs;
}

/** How long messages and what belongs to them are kept, in milliseconds, and the present time. */
export interface Retention {
  readonly nowMs: number;
  readonly retentionMs: number;
}

/** Returns the days of which this retention may keep something, newest first. */
export function keptDays({ nowMs, retentionMs }: Retention): number[] {
  // Clocks differ: tomorrow may have begun elsewhere.
  const tomorrow = dayOf(nowMs) + 1;
  return Array.from({ length: Math.ceil(retentionMs / DAY_MS) + 3 }, (_, daysAgo) => tomorrow - daysAgo);
}

/** Returns the least id of this day: all ids made on it or later are greater or equal. */
export function firstIdOfDay(day: number): string {
  return idsFrom(day * DAY_MS);
}

/** Returns the key of the hash of a shard's messages of one day. */
export function dayKey(shard: number, day: number): string {
  const newestOfShard = newestDays[shard];
  if (newestOfShard?.day === day) return newestOfShard.key;
  const key = shardKey(shard, 'messages', String(day));
  newestDays[shard] = { day, key };
  return key;
}

/** The key of the last requested day for each shard: every send needs today's. */
const newestDays: { readonly day: number; readonly key: string }[] = [];

/** Stores an accepted message. Its state needs no separate write: a missing state means queued. */
export function bodyWrite(shard: number, day: number, body: MessageBody): Write {
  return ['HSET', dayKey(shard, day), body.id, encodeBody(body)];
}

/** Stores the state of a message. */
export function stateWrite(shard: number, messageId: string, state: MessageState): Write {
  return ['HSET', dayKey(shard, dayOfMessage(messageId)), stateField(messageId), JSON.stringify(state)];
}

/** Stores the receipts of a message's recipients. */
export function receiptsWrite(shard: number, messageId: string, receipts: MessageReceipts): Write {
  return ['HSET', dayKey(shard, dayOfMessage(messageId)), receiptsField(messageId), encodeReceipts(receipts)];
}

/** Returns the write that expires the messages of a day `retentionMs` after its end. */
export function dayExpiry(shard: number, day: number, retentionMs: number): Write {
  return ['PEXPIREAT', dayKey(shard, day), dayEndsMs(day, retentionMs)];
}

/** Erases a message at once. */
export function messageErasure(shard: number, messageId: string): Write {
  return [
    'HDEL',
    dayKey(shard, dayOfMessage(messageId)),
    messageId,
    stateField(messageId),
    receiptsField(messageId),
  ];
}

function stateField(messageId: string): string {
  return `${messageId}:state`;
}

function receiptsField(messageId: string): string {
  return `${messageId}:receipts`;
}

/** Returns the lookup of a message; `decodeMessage` reads the reply. */
export function messageLookup(
  shard: number,
  messageId: string,
): Extract<Lookup, readonly ['HMGET', ...unknown[]]> {
  const key = dayKey(shard, dayOfMessage(messageId));
  return ['HMGET', key, messageId, stateField(messageId), receiptsField(messageId)];
}

/** Returns the answer to `messageLookup` if memory has the message, otherwise undefined. */
export function knownMessage(shard: number, messageId: string, store: Store): MessageFields | undefined {
  return store.knownFields(shard, dayKey(shard, dayOfMessage(messageId)), messageId);
}

/** Reads one message, or undefined if it was removed. */
export async function readMessage(
  shard: number,
  messageId: string,
  store: Store,
): Promise<StoredMessage | undefined> {
  const [message] = await readMessages(shard, [messageId], store);
  return message;
}

/** Reads messages in the order of their ids. An entry is undefined if the message was removed. */
export async function readMessages(
  shard: number,
  messageIds: readonly string[],
  store: Store,
): Promise<(StoredMessage | undefined)[]> {
  if (messageIds.length === 0) return [];
  const answers = await store.read(messageIds.map((id) => messageLookup(shard, id)));
  return answers.map((fields, index) => decodeMessage(messageIds[index] as string, fields));
}
