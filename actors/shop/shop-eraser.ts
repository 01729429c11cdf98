import type { Actors } from '../../runtime/actors.ts';
import type { Store, Write } from '../../runtime/store.ts';
import type { SessionHost } from '../session/session-host.ts';
import { decodeMessage } from './message-record.ts';
import { idempotencyKey, messageKey, shopAddress, shopKeys } from './shop-keys.ts';
import type { ShopReference } from './shop-operations.ts';

const BATCH = 200;

/** Erases what a shop left: its session, credentials, messages, idempotency keys, windows and opt-outs. */
export class ShopEraser {
  readonly #options: { readonly actors: Actors; readonly store: Store; readonly host: SessionHost };
  readonly #running = new Map<string, Promise<void>>();

  constructor(options: { readonly actors: Actors; readonly store: Store; readonly host: SessionHost }) {
    this.#options = options;
  }

  /** Settles when nothing of the shop is left. Its tenant no longer names it, so it cannot come back meanwhile. */
  erase(shop: ShopReference): Promise<void> {
    const running =
      this.#running.get(shop.shopId) ?? this.#erase(shop).finally(() => this.#running.delete(shop.shopId));
    this.#running.set(shop.shopId, running);
    return running;
  }

  async #erase(shop: ShopReference): Promise<void> {
    const { actors, store, host } = this.#options;
    const address = shopAddress(shop);
    const { shard } = address;
    await actors.passivate(address, { force: true });
    await host.erase({ shard, ...shop });
    const keys = shopKeys(shard, shop.shopId);
    for (;;) {
      const [ids] = (await store.read([['ZRANGE', keys.messages, 0, BATCH - 1]])) as [string[]];
      if (ids.length === 0) break;
      const bodies = (await store.read(
        ids.map((id) => ['HMGET', messageKey(shard, id), 'body', 'state']),
      )) as (string | null)[][];
      const writes: Write[] = ids.map((id) => ['DEL', messageKey(shard, id)]);
      for (const fields of bodies) {
        const key = decodeMessage(fields)?.body.idempotencyKey;
        if (key) writes.push(['DEL', idempotencyKey(shard, shop.shopId, key)]);
      }
      writes.push(['ZREM', keys.messages, ...ids]);
      await store.commit(shard, writes);
    }
    await store.commit(
      shard,
      Object.values(keys).map((key: string) => ['DEL', key]),
    );
    actors.tell({ shard, kind: 'tenant', id: shop.tenantId }, { type: 'shop_erased', shopId: shop.shopId });
  }
}
