import type { TenantSettings } from '../../../policy/tenant-settings.ts';
import type { Actors } from '../../../runtime/actors.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Store } from '../../../runtime/store.ts';
import { type ChannelCode, done, failed, type Outcome } from '../../failure.ts';
import { committedTenant, settingsOf } from '../../tenants/committed-tenant.ts';
import { channelFailure } from '../judging/channel-refusal.ts';
import { mayAskForGroup } from '../judging/judge-send.ts';
import type { PoolClient } from '../pool-link/pool-client.ts';
import { readAnyRecipient } from '../reading/recipient-facts.ts';
import { shopAddress } from '../records/shop-keys.ts';
import type { GroupView, ShopOperations, ShopPolicyView, ShopReference } from '../shop-operations.ts';
import { committedShop } from '../state/committed-shop.ts';
import { channelState, liveGroups, type ShopState } from '../state/shop-state.ts';
import { askShop, fromShop } from './ask-shop.ts';
import { batchOperations } from './batching.ts';
import { type ConnectionOptions, connectionOperations } from './connecting.ts';
import { messageOperations } from './message-operations.ts';
import { forecastSend, policyView } from './policy-view.ts';
import type { EstimateTimes } from './queue-place.ts';
import { scheduleOperations } from './scheduling.ts';
import { type SendingOptions, sendOperation } from './sending.ts';

export interface ShopServiceOptions extends ConnectionOptions, SendingOptions {
  readonly actors: Actors;
  readonly store: Store;
  readonly clock: Clock;
  readonly poolClient: Pick<PoolClient, 'find' | 'takeBackCancelled'>;
  /** The times between sends, for estimates of when one leaves. */
  readonly times: EstimateTimes;
  /** Retention of ended scheduled sends and batches in milliseconds. */
  readonly retentionMs: number;
  /** `isAvailable` returns true if a session worker can take orders. */
  readonly host: { isAvailable(): boolean };
}

/** Returns the API's operations on a shop. Reads use the last committed state, changes are commands to the actor. */
export function shopService(options: ShopServiceOptions): ShopOperations {
  const { actors, askGroups } = options;
  const settingsNow = async ({ tenantId }: ShopReference): Promise<TenantSettings> =>
    settingsOf(await committedTenant(actors, tenantId));
  return {
    ...connectionOperations(options),
    send: sendOperation(options),
    postStatus: async (shop, draft) =>
      askShop(actors, shop, { type: 'post_status', draft, settings: await settingsNow(shop) }),
    ...messageOperations(options),
    ...scheduleOperations(options),
    ...batchOperations(options),
    policy: (shop, recipient) =>
      fromShop(actors, shop, async (state) => {
        const query = { to: recipient, settings: await settingsNow(shop) };
        const view = await policyOf(state, query, options);
        const refusal = view.forecast?.failure;
        if (refusal === undefined || !mayAskForGroup(state, refusal.code)) return done(view);
        // A real send asks for the group too.
        await askGroups(shop, recipient);
        return fromShop(actors, shop, async (askedState) => done(await policyOf(askedState, query, options)));
      }),
    async groups(shop) {
      if (isConnected(await committedShop(actors, shopAddress(shop)))) await askGroups(shop);
      return await fromShop(actors, shop, (state) => groupsOf(state, options.clock.wallMs()));
    },
  };
}

/** Returns the shop's limits, and the result of a send to `to`. */
async function policyOf(
  state: ShopState,
  { to, settings }: { readonly to: string | undefined; readonly settings: TenantSettings },
  { store, clock, host }: Pick<ShopServiceOptions, 'store' | 'clock' | 'host'>,
): Promise<ShopPolicyView> {
  const context = { settings, nowMs: clock.wallMs() };
  const view = policyView(state, context);
  if (to === undefined) return view;
  const recipient = await readAnyRecipient(state, to, store);
  return {
    ...view,
    forecast: forecastSend(state, { ...context, to, recipient, hasWorker: host.isAvailable() }),
  };
}

/** True if an open session can answer. */
function isConnected(state: ShopState | undefined): boolean {
  return state !== undefined && channelState(state) === 'connected';
}

/** Returns the groups that the open session reported. */
function groupsOf(state: ShopState, nowMs: number): Outcome<readonly GroupView[], ChannelCode> {
  if (state.channel.context.flagged) return failed('MSGAPP_SESSION_LOST');
  const groups = liveGroups(state);
  if (groups === undefined) return channelFailure(state, 'MSGAPP_NOT_CONNECTED', nowMs);
  return done(groups.map((group) => ({ ...group, canSend: group.isAdmin })));
}
