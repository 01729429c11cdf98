/**
 * Makes sends that are due, as a caller would at that moment. The turn that decides a send stores its result. If no
 * turn decides, the shop's timer repeats the request.
 */
import { logBackgroundFailure } from '../../../runtime/background-failures.ts';
import type { Logger } from '../../../runtime/logger.ts';
import type { Store } from '../../../runtime/store.ts';
import type { BatchClass, BatchRecipient } from '../batch-operations.ts';
import { shopAddress, shopKeys } from '../records/shop-keys.ts';
import type { ShopOperations, ShopReference } from '../shop-operations.ts';
import { type BatchContent, batchKey } from '../state/batches.ts';
import type { ScheduledDraft } from '../state/scheduled-sends.ts';
import { fieldsByName, filledText } from '../texts/batch-text.ts';

interface SenderOptions {
  readonly store: Pick<Store, 'read'>;
  /** The turn stores each result, so no caller needs the reply. */
  readonly send: (...due: Parameters<ShopOperations['send']>) => unknown;
  readonly log: Logger;
}

/** Makes a scheduled send. */
export function scheduledSender({
  store,
  send,
  log,
}: SenderOptions): (shop: ShopReference, scheduledId: string) => void {
  const make = async (shop: ShopReference, scheduledId: string): Promise<void> => {
    const keys = shopKeys(shopAddress(shop).shard, shop.shopId);
    const [storedText] = await store.read([['HGET', keys.scheduledDrafts, scheduledId]]);
    if (storedText === null) return;
    const { sendAtMs, notAfterMs, createdAtMs, contentDigest, ...draft } = JSON.parse(
      storedText,
    ) as ScheduledDraft;
    await send(shop, { ...draft, scheduledId });
  };
  return (shop, scheduledId) => {
    make(shop, scheduledId).catch((error: unknown) => {
      const line = 'a scheduled send was not made and is tried again';
      logBackgroundFailure(log, error, { ...shop, scheduledId }, line);
    });
  };
}

/** Makes the send to one recipient of a batch. */
export function batchSender({
  store,
  send,
  log,
}: SenderOptions): (shop: ShopReference, batchId: string, place: number) => void {
  const make = async (shop: ShopReference, batchId: string, place: number): Promise<void> => {
    const key = batchKey(shopKeys(shopAddress(shop).shard, shop.shopId), batchId);
    const [storedTexts] = await store.read([['HMGET', key, 'content', `r:${place}`]]);
    const [content, recipient] = storedTexts;
    if (content == null || recipient == null) return;
    const { digest, ...draft } = JSON.parse(content) as BatchContent;
    const { to, fields, idempotencyKey, was } = JSON.parse(recipient) as BatchRecipient & {
      readonly was: BatchClass;
    };
    await send(shop, {
      ...draft,
      to,
      text: draft.text === undefined ? undefined : filledText(draft.text, fieldsByName(fields)),
      // A send that is made twice is one message.
      idempotencyKey: idempotencyKey ?? `batch:${batchId}:${place}`,
      batch: { id: batchId, place, was },
    });
  };
  return (shop, batchId, place) => {
    make(shop, batchId, place).catch((error: unknown) => {
      const line = 'a send of a batch was not made and is tried again';
      logBackgroundFailure(log, error, { ...shop, batchId, place }, line);
    });
  };
}
