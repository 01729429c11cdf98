import type { MaybePromise } from '../../../../runtime/maybe-promise.ts';
import type { Store } from '../../../../runtime/store.ts';
import type { CommandOf } from '../../protocol/shop-commands.ts';
import {
  type RecipientAndOriginal,
  type RecipientFacts,
  readAnyRecipient,
} from '../../reading/recipient-facts.ts';
import { readMessage } from '../../records/message-days.ts';
import type { StoredMessage } from '../../records/message-record.ts';
import { idempotencyRedisKey } from '../../records/shop-keys.ts';
import type { MessageDraft } from '../../shop-operations.ts';
import type { ShopState } from '../../state/shop-state.ts';
import type { FactSources } from '../builder/fact-sources.ts';

/** The facts for the turn on a send. */
export interface SendTurnFacts {
  readonly send: RecipientAndOriginal;
  readonly hasWorker: boolean;
}

/**
 * Reads the facts for the turn on a send. Without an idempotency key they are usually in memory, so it does not wait
 * for Redis. With one it reads the original.
 */
export function readSend(
  state: ShopState,
  draft: MessageDraft,
  store: Store,
  hasWorker: boolean,
): MaybePromise<SendTurnFacts> {
  const recipient = readAnyRecipient(state, draft.to, store);
  const { idempotencyKey: key } = draft;
  if (key === undefined && !(recipient instanceof Promise)) return { send: recipient, hasWorker };
  const original = key === undefined ? undefined : readOriginal(state, { kind: 'message', key }, store);
  return withOriginal(recipient, original, hasWorker);
}

async function withOriginal(
  recipient: MaybePromise<RecipientFacts>,
  storedOriginal: MaybePromise<StoredMessage | undefined>,
  hasWorker: boolean,
): Promise<SendTurnFacts> {
  const [facts, original] = await Promise.all([recipient, storedOriginal]);
  return { send: { ...facts, original }, hasWorker };
}

/** The facts for the turn on a status: also the status that the same idempotency key made. */
export interface StatusTurnFacts {
  readonly hasWorker: boolean;
  readonly original?: StoredMessage | undefined;
}

/** Reads the status that the same idempotency key made, if there is one. */
export async function readStatus(
  state: ShopState,
  { draft: { idempotencyKey: key } }: CommandOf<'post_status'>,
  { store, hasWorker }: FactSources,
): Promise<StatusTurnFacts> {
  const original = key === undefined ? undefined : await readOriginal(state, { kind: 'status', key }, store);
  return { original, hasWorker: hasWorker() };
}

/** Reads the message or status that this idempotency key made. */
async function readOriginal(
  { shard, shop }: ShopState,
  { kind, key }: { readonly kind: 'message' | 'status'; readonly key: string },
  store: Store,
): Promise<StoredMessage | undefined> {
  const [originalId] = await store.read([
    ['GET', idempotencyRedisKey(shard, { shopId: shop.shopId, kind }, key)],
  ]);
  return originalId === null ? undefined : readMessage(shard, originalId, store);
}
