import type { Actors } from '../../../runtime/actors.ts';
import type { Logger } from '../../../runtime/logger.ts';
import type { Store } from '../../../runtime/store.ts';
import { activeTenant, committedTenant } from '../../tenants/committed-tenant.ts';
import { shopAddress } from '../records/shop-keys.ts';
import type { ShopReference } from '../shop-operations.ts';
import { activeShop } from '../state/committed-shop.ts';
import { channelState } from '../state/shop-state.ts';

/** Set of `tenant/shop`: the platform's shops with an open session, as their nodes reported them. */
const POOL_SESSIONS_KEY = 'pool-sessions';

/**
 * The list of pool shops to ask: a set outside all shards, written when such a shop's channel changes. It may be wrong
 * at any time, because a killed node removes nothing. So each listed shop is asked first.
 */
export class PoolSessions {
  readonly #options: { readonly actors: Actors; readonly store: Store; readonly log: Logger };

  constructor(options: { readonly actors: Actors; readonly store: Store; readonly log: Logger }) {
    this.#options = options;
  }

  /** A shop's channel changed. */
  refresh(shop: ShopReference): void {
    this.#write(shop, async () => {
      const platform = await this.#isPlatform(shop.tenantId);
      return platform ? this.#isConnected(shop) : undefined;
    });
  }

  /** A tenant changed; it may have become the platform's, or no longer be. */
  tenantChanged(tenantId: string): void {
    const shops = activeTenant(this.#options.actors, tenantId)?.shops.keys() ?? [];
    for (const shopId of shops) {
      const shop = { tenantId, shopId };
      this.#write(shop, async () => (await this.#isPlatform(tenantId)) && this.#isConnected(shop));
    }
  }

  /** A shop was erased. */
  async forget(shop: ShopReference): Promise<void> {
    await this.#options.store.append([['SREM', POOL_SESSIONS_KEY, member(shop)]]);
  }

  /** Returns the pool shops that may have an open session. */
  async listShops(): Promise<ShopReference[]> {
    const [members] = await this.#options.store.read([['SMEMBERS', POOL_SESSIONS_KEY]]);
    return members.map((text) => {
      const [tenantId = '', shopId = ''] = text.split('/');
      return { tenantId, shopId };
    });
  }

  /** Adds or removes the shop, depending on `isIn`; undefined changes nothing. */
  #write(shop: ShopReference, isIn: () => Promise<boolean | undefined>): void {
    const { store, log } = this.#options;
    const writeChange = async (): Promise<void> => {
      const isListed = await isIn();
      if (isListed === undefined) return;
      await store.append([[isListed ? 'SADD' : 'SREM', POOL_SESSIONS_KEY, member(shop)]]);
    };
    writeChange().catch((error: unknown) => {
      const line = 'a change of a pool shop could not be recorded for the pool';
      log.warn({ ...shop, err: error }, line);
    });
  }

  async #isPlatform(tenantId: string): Promise<boolean> {
    const tenant = await committedTenant(this.#options.actors, tenantId);
    return tenant?.record.platform ?? false;
  }

  /** The shop's state now, which may differ from that at the time of the event. */
  #isConnected(shop: ShopReference): boolean {
    const state = activeShop(this.#options.actors, shopAddress(shop));
    return state !== undefined && channelState(state) === 'connected';
  }
}

function member({ tenantId, shopId }: ShopReference): string {
  return `${tenantId}/${shopId}`;
}
