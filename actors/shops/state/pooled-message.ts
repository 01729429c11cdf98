import type { ShopReference } from '../shop-operations.ts';

/** A message of this shop that the pool sends, until it has ended, with its progress there. */
export interface PooledMessage {
  readonly messageId: string;
  readonly to: string;
  readonly createdAtMs: number;
  /** The pool shop that is asked to send it. Null: the last one refused, another one is looked for. */
  readonly pool: ShopReference | null;
  /** The pool shop answered that it took the message. */
  readonly taken: boolean;
  /** Its place in the list of what the shop accepted. Not stored with it. */
  readonly place: number;
  /** When it is asked about again. Not stored: after a restart at once. */
  readonly askAtMs: number;
}

/** The stored form, under the message's id. */
export function encodePooled({ to, createdAtMs, pool, taken }: PooledMessage): string {
  return JSON.stringify({ to, createdAtMs, pool, taken });
}

/** Reads the hash of pooled messages back from its flat list of ids and values, oldest first; `placeOf`: see `place`. */
export function decodePooled(
  flat: readonly string[],
  placeOf: (messageId: string) => number,
): PooledMessage[] {
  const messages: PooledMessage[] = [];
  for (let index = 0; index + 1 < flat.length; index += 2) {
    const messageId = flat[index] ?? '';
    const stored = JSON.parse(flat[index + 1] ?? '') as Omit<
      PooledMessage,
      'messageId' | 'askAtMs' | 'place'
    >;
    messages.push({ messageId, ...stored, place: placeOf(messageId), askAtMs: 0 });
  }
  return messages.sort((left, right) => (left.messageId < right.messageId ? -1 : 1));
}
