import { policyUsage } from '../../policy/policy-usage.ts';
import type { TenantSettings } from '../../policy/tenant-settings.ts';
import type { Actors } from '../../runtime/actors.ts';
import type { Address } from '../../runtime/address.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { Store } from '../../runtime/store.ts';
import type { EgressVault } from '../sessions/egress-vault.ts';
import type { SessionHost } from '../sessions/session-host.ts';
import { sessionOf } from '../shops/effects/shop-effects.ts';
import { warmupPairedAtMs } from '../shops/machines/channel-context.ts';
import { shopOf } from '../shops/records/shop-keys.ts';
import { loadShop } from '../shops/state/load-shop.ts';
import type { ShopState } from '../shops/state/shop-state.ts';
import { describeShop } from '../shops/turns/describe-shop.ts';
import { actorView } from './fleet-service.ts';
import type { ShopInspection } from './operator-operations.ts';

/** The actors and the store that an inspection reads. */
export interface InspectShopOptions {
  readonly actors: Actors;
  readonly store: Store;
  readonly host: Pick<SessionHost, 'describe' | 'available'>;
  readonly egressVault: Pick<EgressVault, 'renewed'>;
  readonly log: Logger;
}

/**
 * Returns all that operators see of one shop. An inactive shop is activated. A suspended or crashed shop answers no
 * commands, so its last commit is shown. Details are left out if they cause the crash. Undefined if there is no such
 * shop.
 */
export async function inspectShop(
  address: Address,
  { actors, store, host, egressVault, log }: InspectShopOptions,
  { settings, nowMs }: { readonly settings: TenantSettings; readonly nowMs: number },
): Promise<ShopInspection | undefined> {
  const stopped = stoppedSnapshot(actors, address);
  const state =
    stopped === undefined
      ? await actors.state<ShopState>(address)
      : await loadShop(address, store, nowMs, egressVault).catch((error: unknown) => {
          const line = 'the stored state of an inactive shop cannot be read';
          log.error({ ...shopOf(address), err: error }, line);
          return undefined;
        });
  const snapshot = stopped ?? actors.snapshot(address);
  if (snapshot === undefined || (state === undefined && stopped === undefined)) return undefined;
  const usage =
    state &&
    policyUsage(state.ledger, { settings, pairedAtMs: warmupPairedAtMs(state.channel.context), nowMs });
  return {
    ...actorView({ ...snapshot, state: snapshot.state ?? (state && describeShop(state)) }),
    policy: usage === undefined ? null : { ...usage, windows: Object.values(usage.windows) },
    workers: host.available() ? 'available' : 'lost',
    session: host.describe(sessionOf(address)) ?? null,
  };
}

function stoppedSnapshot(actors: Actors, address: Address): ReturnType<Actors['snapshot']> {
  const snapshot = actors.snapshot(address);
  return snapshot?.status === 'active' ? undefined : snapshot;
}
