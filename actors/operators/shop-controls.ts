import type { Actors } from '../../runtime/actors.ts';
import { afterCommand } from '../../runtime/after-command.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { Store } from '../../runtime/store.ts';
import { done, failed } from '../failure.ts';
import type { EgressVault } from '../sessions/egress-vault.ts';
import type { SessionHost } from '../sessions/session-host.ts';
import { inspectShop, type ShopInspection } from '../shops/inspection/shop-inspection.ts';
import { askShop } from '../shops/operations/ask-shop.ts';
import { shopAddress } from '../shops/records/shop-keys.ts';
import type { ShopReference } from '../shops/shop-operations.ts';
import { withReplyTimeout } from '../with-reply-timeout.ts';
import { changeEgress } from './egress-change.ts';
import type { LookupOutcome, OperatorOperations } from './operator-operations.ts';
import { withTenant } from './with-tenant.ts';

export interface ShopControlsOptions {
  readonly actors: Actors;
  readonly store: Store;
  readonly clock: Clock;
  readonly host: Pick<SessionHost, 'describe' | 'isAvailable' | 'tryEgress'>;
  readonly egressVault: EgressVault;
  readonly log: Logger;
}

type ShopControls = Pick<
  OperatorOperations,
  'pause' | 'resume' | 'restart' | 'passivate' | 'inspectShop' | 'setEgress'
>;

/** Shows and controls the actors of shops. */
export function shopControls(options: ShopControlsOptions): ShopControls {
  const { actors, clock } = options;
  const withShop = (
    shop: ShopReference,
    operate?: () => Promise<unknown>,
  ): Promise<LookupOutcome<ShopInspection>> =>
    withTenant(actors, shop.tenantId, async ({ shops, settings }) => {
      if (!shops.has(shop.shopId)) return failed('NOT_FOUND');
      const inspect = () => inspectShop(shopAddress(shop), options, { settings, nowMs: clock.wallMs() });
      await operate?.();
      const view = await (operate === undefined ? inspect() : afterCommand(inspect));
      return view === undefined ? failed('NOT_FOUND') : done(view);
    });
  const ask = (shop: ShopReference, type: 'pause' | 'resume'): Promise<unknown> =>
    withReplyTimeout(clock, askShop(actors, shop, { type }));
  return {
    pause: (shop) => withShop(shop, () => ask(shop, 'pause')),
    resume: (shop) =>
      withShop(shop, async () => {
        await actors.resume(shopAddress(shop));
        await ask(shop, 'resume');
      }),
    restart: (shop) => withShop(shop, () => actors.restart(shopAddress(shop))),
    passivate: (shop) =>
      withTenant(actors, shop.tenantId, async ({ shops }) => {
        if (!shops.has(shop.shopId)) return failed('NOT_FOUND');
        const answer = await actors.passivate(shopAddress(shop));
        if (answer === 'passivated') return done({ passivated: true });
        return failed('CONFLICT', {
          message: 'The shop has a session or work in its queue and must stay active.',
        });
      }),
    setEgress: (shop, egress) =>
      withTenant(actors, shop.tenantId, async ({ shops }) =>
        shops.has(shop.shopId) ? changeEgress(options, shop, egress) : failed('NOT_FOUND'),
      ),
    inspectShop: (shop) => withShop(shop),
  };
}
