import { hashFields } from '../../../runtime/store.ts';
import type { ShopReference } from '../shop-operations.ts';

/** A message of this shop that the pool sends, until it has ended, with its progress there. */
export interface PooledMessage {
  readonly messageId: string;
  readonly to: string;
  readonly createdAtMs: number;
  /** The pool shop that is asked to send it. Null if the last one refused, and another one is looked for. */
  readonly pool: ShopReference | null;
  /** True if the pool shop replied that it took the message. */
  readonly isTaken: boolean;
  /** Its position in the list of accepted sends. Not stored with it. */
  readonly place: number;
  /** The time of the next request about it. It is not stored, so after a restart the request is sent at once. */
  readonly askAtMs: number;
}

interface StoredPooled extends Pick<PooledMessage, 'to' | 'createdAtMs' | 'pool'> {
  readonly taken: boolean;
}

/** Returns the stored form, under the message's id. */
export function encodePooled({ to, createdAtMs, pool, isTaken }: PooledMessage): string {
  const storedMessage: StoredPooled = { to, createdAtMs, pool, taken: isTaken };
  return JSON.stringify(storedMessage);
}

/** Returns the pooled messages, oldest first, from the ids and values of their hash. `placeOf`: see `place`. */
export function decodePooled(
  fields: readonly string[],
  placeOf: (messageId: string) => number,
): PooledMessage[] {
  const messages = [...hashFields(fields)].map(([messageId, text]): PooledMessage => {
    const { taken: isTaken, ...storedMessage } = JSON.parse(text) as StoredPooled;
    return { messageId, ...storedMessage, isTaken, place: placeOf(messageId), askAtMs: 0 };
  });
  return messages.sort((left, right) => (left.messageId < right.messageId ? -1 : 1));
}
