import type { Actors } from '../../runtime/actors.ts';
import type { Address } from '../../runtime/address.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { EventFeed } from '../event-feed.ts';
import type { OperatorsDirectory } from '../operators/operators-directory.ts';
import type { PoolSessions } from '../shop/effect/pool-sessions.ts';
import type { ShopEraser } from '../shop/effect/shop-eraser.ts';
import type { StoredKeyDirectory } from './key-directory.ts';
import type { TenantEffect } from './tenant-commands.ts';
import type { TenantState } from './tenant-state.ts';

/** How soon an erasure that failed is tried again. */
const ERASE_AGAIN_MS = 10_000;

/** Carries out what a tenant's turns asked for; by then the commit holds. */
export function tenantEffects(parts: {
  readonly actors: Pick<Actors, 'peek'>;
  readonly clock: Clock;
  readonly eraser: ShopEraser;
  readonly directory: StoredKeyDirectory;
  readonly operatorsDirectory: OperatorsDirectory;
  readonly feed: EventFeed;
  readonly poolSessions: PoolSessions;
  readonly log: Logger;
}): (effect: TenantEffect, address: Address) => void {
  const { actors, clock, eraser, directory, operatorsDirectory, feed, poolSessions, log } = parts;
  const erase = (address: Address, shopId: string): void => {
    const tenantId = address.id;
    eraser.erase({ tenantId, shopId }).catch((error: unknown) => {
      log.error({ tenantId, shopId, err: error }, 'the erasure of a shop stopped; it is tried again');
      clock.after(ERASE_AGAIN_MS, () => {
        // Elsewhere, and after a crash, it goes on when its tenant is activated.
        if (actors.peek<TenantState>(address)?.erasing.has(shopId)) erase(address, shopId);
      });
    });
  };
  return (effect, address) => {
    const tenantId = address.id;
    switch (effect.type) {
      case 'erase_shop':
        erase(address, effect.shopId);
        break;
      case 'forget_keys':
        directory
          .forget(effect.hashes)
          .catch((error: unknown) =>
            log.warn({ tenantId, err: error }, 'hashes of retired keys stay in the key directory'),
          );
        break;
      case 'announce_tenant':
        void operatorsDirectory.refresh(tenantId);
        poolSessions.tenantChanged(tenantId);
        feed.publish('tenant', { tenantId });
        break;
      case 'announce_shop':
        feed.publish('shop', { tenantId, shopId: effect.shopId });
        break;
    }
  };
}
