import { type PolicyUsage, policyUsage, type WindowUsage } from '../../../policy/policy-usage.ts';
import type { TenantSettings } from '../../../policy/tenant-settings.ts';
import type { ActorSnapshot, Actors } from '../../../runtime/actors.ts';
import type { Address } from '../../../runtime/address.ts';
import type { Logger } from '../../../runtime/logger.ts';
import type { Store } from '../../../runtime/store.ts';
import type { EgressVault } from '../../sessions/egress-vault.ts';
import type { SessionHost } from '../../sessions/session-host.ts';
import { sessionOf } from '../effects/shop-effects.ts';
import { warmupPairedAtMs } from '../machines/channel-context.ts';
import { channelMachine } from '../machines/channel-machine.ts';
import { machineChart } from '../machines/machine-chart.ts';
import { pacingMachine } from '../machines/pacing-machine.ts';
import { shopOf } from '../records/shop-keys.ts';
import { committedShop } from '../state/committed-shop.ts';
import { loadShop } from '../state/load-shop.ts';
import { describeShop, type ShopDescription } from '../turns/describe-shop.ts';

/** A shop's actor as operators see it. Name, state and details are null if the shop's state is not known. */
export interface ShopActorView extends Omit<ActorSnapshot, 'address' | 'state'> {
  readonly tenantId: string;
  readonly shopId: string;
  readonly shard: number;
  readonly name: string | null;
  /** The channel's public status. */
  readonly state: ShopDescription['status'] | null;
  readonly details: ShopDescription | null;
}

/** A shop's actor, with the fields that only its own page shows. */
export interface ShopInspection extends ShopActorView {
  /** Null if its stored data cannot be read. */
  readonly policy: (Pick<PolicyUsage, 'warmupDay'> & { readonly windows: readonly WindowUsage[] }) | null;
  readonly workers: 'available' | 'lost';
  /** Facts of the live session, with names that its host chooses. Null if there is no session. */
  readonly session: Readonly<Record<string, unknown>> | null;
}

/** The charts of both machines of a shop, which do not change while the program runs. */
export const SHOP_CHARTS = [machineChart(channelMachine), machineChart(pacingMachine)];

export interface InspectShopOptions {
  readonly actors: Actors;
  readonly store: Store;
  readonly host: Pick<SessionHost, 'describe' | 'isAvailable'>;
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
  const stoppedState = stoppedSnapshot(actors, address);
  const state =
    stoppedState === undefined
      ? await committedShop(actors, address)
      : await loadShop(address, store, nowMs, egressVault).catch((error: unknown) => {
          const line = 'the stored state of a suspended or crashed shop cannot be read';
          log.error({ ...shopOf(address), err: error }, line);
          return undefined;
        });
  const snapshot = stoppedState ?? actors.snapshot(address);
  if (snapshot === undefined || (state === undefined && stoppedState === undefined)) return undefined;
  const usage =
    state &&
    policyUsage(state.ledger, { settings, pairedAtMs: warmupPairedAtMs(state.channel.context), nowMs });
  return {
    ...actorView({ ...snapshot, state: snapshot.state ?? (state && describeShop(state)) }),
    policy: usage === undefined ? null : { ...usage, windows: Object.values(usage.windows) },
    workers: host.isAvailable() ? 'available' : 'lost',
    session: host.describe(sessionOf(address)) ?? null,
  };
}

function stoppedSnapshot(actors: Actors, address: Address): ReturnType<Actors['snapshot']> {
  const snapshot = actors.snapshot(address);
  return snapshot?.status === 'active' ? undefined : snapshot;
}

/** Returns a shop's actor as operators see it. */
function actorView({ address, state, status, ...snapshot }: ActorSnapshot): ShopActorView {
  // The runtime does not know the type of a snapshot's details. For a shop it is this one.
  const details = (state as ShopDescription | undefined) ?? null;
  return {
    ...shopOf(address),
    name: details?.name ?? null,
    state: details?.status ?? null,
    status,
    shard: address.shard,
    ...snapshot,
    details,
  };
}

/** A page of long queues would take megabytes, and operators read only their heads. */
const LISTED_WAITING = 3;

/** Returns a shop's actor in a list, with the head of its queue alone. */
export function listedShop({ state, ...snapshot }: ActorSnapshot): ShopActorView {
  if (state === undefined) return actorView({ state, ...snapshot });
  const { queue } = state as unknown as ShopDescription;
  const waiting = queue.waiting.slice(0, LISTED_WAITING);
  return actorView({ ...snapshot, state: { ...state, queue: { ...queue, waiting } } });
}
