import type { Logger } from '../../../runtime/logger.ts';
import type { Store } from '../../../runtime/store.ts';
import type { BatchClass, BatchRecipient } from '../batch-operations.ts';
import type { ShopOperations, ShopReference } from '../shop-operations.ts';
import { filledText } from '../state/batch-text.ts';
import { type BatchContent, batchKey } from '../state/batches.ts';
import { shopAddress, shopKeys } from '../state/shop-keys.ts';

/**
 * Makes the send to one recipient of a batch, as a caller would at that moment. The turn that decides the send stores
 * its result. If no turn decides, the shop's timer repeats the request.
 */
export function batchSender(parts: {
  readonly store: Pick<Store, 'read'>;
  readonly send: ShopOperations['send'];
  readonly log: Logger;
}): (shop: ShopReference, batchId: string, place: number) => void {
  const { store, send, log } = parts;
  const make = async (shop: ShopReference, batchId: string, place: number): Promise<void> => {
    const key = batchKey(shopKeys(shopAddress(shop).shard, shop.shopId), batchId);
    const [stored] = (await store.read([['HMGET', key, 'content', `r:${place}`]])) as [(string | null)[]];
    const [content, recipient] = stored;
    if (content == null || recipient == null) return;
    const { text, mediaUrl, mediaType, requestId, traceparent } = JSON.parse(content) as BatchContent;
    const { to, fields, idempotencyKey, was } = JSON.parse(recipient) as StoredRecipient;
    await send(shop, {
      to,
      mediaUrl,
      mediaType,
      requestId,
      traceparent,
      text: text === undefined ? undefined : filledText(text, fields),
      // A send that is made twice is one message.
      idempotencyKey: idempotencyKey ?? `batch:${batchId}:${place}`,
      batch: { id: batchId, place, was },
    });
  };
  return (shop, batchId, place) => {
    make(shop, batchId, place).catch((error: unknown) => {
      log.debug({ ...shop, batchId, place, err: error }, 'a send of a batch was not made and is tried again');
    });
  };
}

type StoredRecipient = BatchRecipient & { readonly was: BatchClass };
