import { shardKey } from '../../../runtime/address.ts';
import type { Read } from '../../../runtime/store.ts';

/*
 * Where version 1 of the stored form had a shop's messages. What had ended by the time its shop was brought up to date
 * (`earlier-shop.ts`) stays there until it expires; all of it may go `MESSAGE_RETENTION_DAYS` after the last node of
 * that version has stopped.
 */

/** A message's hash: `body` and `state`; expires by itself. */
export function earlierMessageKey(shard: number, messageId: string): string {
  return shardKey(shard, 'message', messageId);
}

/** Asks for a message of version 1; `decodeMessage` reads the answer. */
export function earlierMessage(shard: number, messageId: string): Read {
  return ['HMGET', earlierMessageKey(shard, messageId), 'body', 'state'];
}

/** The keys of a shop that version 1 had and this one has not. */
export interface EarlierShopKeys {
  /** Sorted set, score 0: ids of all messages, in order of making. */
  readonly messages: string;
  /** Sorted set, score 0: ids of messages that are queued, in hand or with the pool. */
  readonly queue: string;
  /** List: what the policy counted, one entry a send. */
  readonly ledger: string;
}

/** The names of these keys: each begins with that of the shop's hash. */
export function earlierShopKeys(shop: string): EarlierShopKeys {
  return { messages: `${shop}:messages`, queue: `${shop}:queue`, ledger: `${shop}:ledger` };
}
