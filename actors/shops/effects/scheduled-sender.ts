import type { Logger } from '../../../runtime/logger.ts';
import type { Store } from '../../../runtime/store.ts';
import type { ShopOperations, ShopReference } from '../shop-operations.ts';
import type { ScheduledDraft } from '../state/scheduled-sends.ts';
import { shopAddress, shopKeys } from '../state/shop-keys.ts';

/**
 * Makes the due sends, as their caller would at that moment. The turn that decides a send stores its result. If no turn
 * decides, the shop's timer repeats the request.
 */
export function scheduledSender(parts: {
  readonly store: Pick<Store, 'read'>;
  readonly send: ShopOperations['send'];
  readonly log: Logger;
}): (shop: ShopReference, scheduledId: string) => void {
  const { store, send, log } = parts;
  const make = async (shop: ShopReference, scheduledId: string): Promise<void> => {
    const keys = shopKeys(shopAddress(shop).shard, shop.shopId);
    const [stored] = (await store.read([['HGET', keys.scheduledDrafts, scheduledId]])) as [string | null];
    if (stored === null) return;
    const { sendAtMs, notAfterMs, createdAtMs, contentDigest, ...draft } = JSON.parse(
      stored,
    ) as ScheduledDraft;
    await send(shop, { ...draft, scheduledId });
  };
  return (shop, scheduledId) => {
    make(shop, scheduledId).catch((error: unknown) => {
      log.debug({ ...shop, scheduledId, err: error }, 'a scheduled send was not made and is tried again');
    });
  };
}
