import type { MaybePromise } from '../../../../runtime/maybe-promise.ts';
import type { Store } from '../../../../runtime/store.ts';
import { type RecipientFacts, readAnyRecipient, type SendFacts } from '../../reading/recipient-facts.ts';
import { readMessage } from '../../records/message-days.ts';
import type { StoredMessage } from '../../records/message-record.ts';
import { idempotencyRedisKey } from '../../records/shop-keys.ts';
import type { MessageDraft } from '../../shop-operations.ts';
import type { ShopState } from '../../state/shop-state.ts';

/** The facts for the turn on a send. */
export interface FactsOfSend {
  readonly send: SendFacts;
  readonly hasWorker: boolean;
}

/**
 * Reads the facts for the turn on a send. For a first send to a number they are usually in memory, so it does not wait
 * for Redis.
 */
export function readSend(
  state: ShopState,
  draft: MessageDraft,
  store: Store,
  hasWorker: boolean,
): MaybePromise<FactsOfSend> {
  const recipient = readAnyRecipient(state, draft.to, store);
  return draft.idempotencyKey !== undefined || recipient instanceof Promise
    ? readOriginalToo({ state, store, hasWorker }, draft.idempotencyKey, recipient)
    : { send: recipient, hasWorker };
}

async function readOriginalToo(
  {
    state,
    store,
    hasWorker,
  }: { readonly state: ShopState; readonly store: Store; readonly hasWorker: boolean },
  key: string | undefined,
  recipient: MaybePromise<RecipientFacts>,
): Promise<FactsOfSend> {
  const [original, facts] = await Promise.all([
    key === undefined ? undefined : readOriginal(state, { kind: 'message', key }, store),
    recipient,
  ]);
  return { send: { ...facts, original }, hasWorker };
}

/** Reads the message or status that this idempotency key made. */
export async function readOriginal(
  { shard, shop }: ShopState,
  { kind, key }: { readonly kind: 'message' | 'status'; readonly key: string },
  store: Store,
): Promise<StoredMessage | undefined> {
  const [originalId] = await store.read([
    ['GET', idempotencyRedisKey(shard, { shopId: shop.shopId, kind }, key)],
  ]);
  return originalId === null ? undefined : readMessage(shard, originalId, store);
}
