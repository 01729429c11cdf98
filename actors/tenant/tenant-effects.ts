import type { Address } from '../../runtime/address.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { OperatorsDirectory } from '../directory/operators-directory.ts';
import type { EventFeed } from '../event-feed.ts';
import type { PoolSessions } from '../shop/pool-sessions.ts';
import type { ShopEraser } from '../shop/shop-eraser.ts';
import type { StoredKeyDirectory } from './key-directory.ts';
import type { TenantEffect } from './tenant-commands.ts';

/** Carries out what a tenant's turns asked for; by then the commit holds. */
export function tenantEffects(parts: {
  readonly eraser: ShopEraser;
  readonly directory: StoredKeyDirectory;
  readonly operatorsDirectory: OperatorsDirectory;
  readonly feed: EventFeed;
  readonly poolSessions: PoolSessions;
  readonly log: Logger;
}): (effect: TenantEffect, address: Address) => void {
  const { eraser, directory, operatorsDirectory, feed, poolSessions, log } = parts;
  return (effect, address) => {
    const tenantId = address.id;
    switch (effect.type) {
      case 'erase_shop':
        eraser
          .erase({ tenantId, shopId: effect.shopId })
          .catch((error: unknown) =>
            log.error(
              { tenantId, shopId: effect.shopId, err: error },
              'the erasure of a shop stopped; it goes on when its tenant is next activated',
            ),
          );
        break;
      case 'forget_keys':
        directory
          .forget(effect.hashes)
          .catch((error: unknown) =>
            log.warn({ tenantId, err: error }, 'hashes of retired keys stay in the key directory'),
          );
        break;
      case 'announce_tenant':
        operatorsDirectory.refresh(tenantId);
        poolSessions.tenantChanged(tenantId);
        feed.publish('tenant', { tenantId });
        break;
      case 'announce_shop':
        feed.publish('shop', { tenantId, shopId: effect.shopId });
        break;
    }
  };
}
