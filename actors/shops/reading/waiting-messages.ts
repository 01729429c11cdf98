import { type Address, shardOf } from '../../../runtime/address.ts';
import { hashFields, type Read, type ReplyTo, type Store } from '../../../runtime/store.ts';
import { isFinal } from '../../message-status.ts';
import { type CarriedRecord, carriedRead, decodeCarried } from '../records/carried-message.ts';
import { messageLookup } from '../records/message-days.ts';
import { decodeMessage, type MessageState, type StoredMessage } from '../records/message-record.ts';
import { shopKeys, shopOf } from '../records/shop-keys.ts';
import { messageIdOf } from '../state/accepted-list.ts';
import { decodePooled, type PooledMessage } from '../state/pooled-message.ts';
import { carriedEntry, type QueuedMessage, queueEntry } from '../state/shop-state.ts';

/** The messages of a shop that have not ended, read from the store without the shop's actor. */
export interface WaitingMessages {
  /** Both machines as they are stored, or null if they never were. */
  readonly actor: string | null;
  /** The messages in its queue or in progress, its own and carried ones; `isSending`: it may be on the wire. */
  readonly queued: readonly { readonly message: QueuedMessage; readonly isSending: boolean }[];
  /** Its messages at the pool; `ended`: their final state there, if they have one. */
  readonly pooled: readonly { readonly message: PooledMessage; readonly ended: MessageState | undefined }[];
  /** The first failure that broken JSON does not explain. Undefined if there was none. */
  readonly defect: unknown;
}

/**
 * Reads the unfinished messages of a shop that is not loaded. An unreadable record is skipped, so that it delays no
 * other one. A failure that broken JSON does not explain is in the result.
 */
export async function readWaiting(address: Address, store: Store): Promise<WaitingMessages> {
  const { shard } = address;
  const keys = shopKeys(shard, shopOf(address).shopId);
  let defect: unknown;
  const readOrUndefined = <Value>(read: () => Value): Value | undefined => {
    try {
      return read();
    } catch (error) {
      // Broken JSON is a broken record. Any other failure may be a defect of this program.
      if (!(error instanceof SyntaxError)) defect ??= error;
      return undefined;
    }
  };
  const readEach = <Item, Value>(
    items: readonly Item[],
    read: (item: Item, index: number) => readonly Value[],
  ) => items.flatMap((item, index) => readOrUndefined(() => read(item, index)) ?? []);
  const [[actor = null, endedText], pooledFields, carriedIds] = await store.read([
    ['HMGET', keys.shop, 'actor', 'settled'],
    ['HGETALL', keys.pooled],
    ['ZRANGE', keys.carried, 0, -1],
  ]);
  const firstPlace = Number(endedText ?? 0);
  const [elements] = await store.read([['LRANGE', keys.accepted, firstPlace, -1]]);
  const places = new Map(elements.map((element, index) => [messageIdOf(element), firstPlace + index]));
  const placeOf = (id: string): number => places.get(id) ?? firstPlace;
  const oldestFirst = [...hashFields(pooledFields)].sort(([left], [right]) => (left < right ? -1 : 1));
  const pooled = readEach(oldestFirst, (entry) =>
    decodePooled(entry, placeOf).map((message) => atPoolOf(message, shard)),
  );
  // An unreadable one is left out, too. The pool may have sent it.
  for (const [messageId] of oldestFirst) places.delete(messageId);
  const ownIds = [...places.keys()].filter((id) => id !== undefined);
  const [ownMessages, carriedMessages, atPool] = await Promise.all([
    answers(store, ownIds, (id) => messageLookup(shard, id)),
    answers(store, carriedIds, (id) => carriedRead(shard, id)),
    answers(store, pooled, ({ message, poolShard }) => carriedRead(poolShard, message.messageId)),
  ]);
  const ownWaiting = readEach(ownIds, (id, index) =>
    waitingMessage(decodeMessage(id, ownMessages[index] ?? []), ({ body }) => queueEntry(body, placeOf(id))),
  );
  const carriedWaiting = readEach(carriedMessages, (fields) =>
    waitingMessage(decodeCarried(fields), ({ body }) => carriedEntry(body)),
  );
  const pooledWaiting = pooled.map(({ message }, index) => ({
    message,
    ended: message.pool === null ? undefined : readOrUndefined(() => endIn(atPool[index] ?? [])),
  }));
  return { actor, queued: [...ownWaiting, ...carriedWaiting], pooled: pooledWaiting, defect };
}

/** A message at the pool, and the shard that has its record. */
function atPoolOf(message: PooledMessage, shard: number) {
  return { message, poolShard: message.pool === null ? shard : shardOf(message.pool.tenantId) };
}

/** Returns the final state of a message at the pool. Undefined if it has none. */
function endIn(fields: readonly (string | null)[]): MessageState | undefined {
  const state = decodeCarried(fields)?.state;
  return state !== undefined && isFinal(state.status) ? state : undefined;
}

/** Returns the message if it has not ended. */
function waitingMessage(
  { body, state }: Partial<Pick<CarriedRecord, 'body' | 'state'>> = {},
  toQueued: (storedMessage: Pick<StoredMessage, 'body'>) => QueuedMessage,
): WaitingMessages['queued'] {
  if (body === undefined || (state !== undefined && isFinal(state.status))) return [];
  return [{ message: toQueued({ body }), isSending: state?.status === 'sending' }];
}

async function answers<Item>(
  store: Pick<Store, 'read'>,
  items: readonly Item[],
  question: (item: Item) => Read<'HMGET'>,
): Promise<readonly ReplyTo<'HMGET'>[]> {
  return items.length === 0 ? [] : await store.read(items.map(question));
}
