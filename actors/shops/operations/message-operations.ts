import type { Actors } from '../../../runtime/actors.ts';
import { afterCommand } from '../../../runtime/after-command.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { mapMaybePromise } from '../../../runtime/maybe-promise.ts';
import { isObjectId } from '../../../runtime/object-id.ts';
import { RuntimeFailure } from '../../../runtime/runtime-failure.ts';
import type { Store } from '../../../runtime/store.ts';
import { done, failed, type Outcome } from '../../failure.ts';
import { committedTenant } from '../../tenants/committed-tenant.ts';
import type { TenantState } from '../../tenants/tenant-state.ts';
import type { PoolClient } from '../pool-link/pool-client.ts';
import { knownMessage, messageLookup } from '../records/message-days.ts';
import { shopAddress, shopKeys } from '../records/shop-keys.ts';
import type { MessageView, ShopOperations, ShopReference } from '../shop-operations.ts';
import { activeShop, committedShop } from '../state/committed-shop.ts';
import type { ShopState } from '../state/shop-state.ts';
import { NO_SHOP } from './ask-shop.ts';
import { cancelMatching, cancelOne } from './cancelling.ts';
import { listMessages } from './message-list.ts';
import { MessageViews, type OwnedView, viewOf } from './message-views.ts';
import { type EstimateTimes, withPlace } from './queue-place.ts';

interface MessageOptions {
  readonly actors: Actors;
  readonly store: Store;
  readonly clock: Clock;
  readonly poolClient: Pick<PoolClient, 'takeBackCancelled'>;
  /** The times between sends, for estimates of when one leaves. */
  readonly times: EstimateTimes;
}

/** Makes the operations that show messages, and that cancel them before they leave. */
export function messageOperations(
  options: MessageOptions,
): Pick<ShopOperations, 'message' | 'listMessages' | 'cancel' | 'cancelQueue'> {
  const { actors, store } = options;
  const views = new MessageViews();
  const message: ShopOperations['message'] = (tenantId, id) => {
    // Beside a message, its state and receipts have fields of their own (records/message-days.ts).
    if (!isObjectId(id)) return NOT_FOUND;
    return mapMaybePromise(committedTenant(actors, tenantId), (tenant) => {
      if (tenant === undefined) return NOT_FOUND;
      const foundRecord = knownMessage(tenant.shard, id, store);
      return foundRecord === undefined
        ? readMessage(tenant, id, options)
        : shownTo(tenant, views.viewOf(id, foundRecord), options);
    });
  };
  return {
    message,
    listMessages: (shop, query) => listStored(shop, query, options),
    async cancel(tenantId, messageId) {
      const foundMessage = await message(tenantId, messageId);
      if (!foundMessage.ok) return foundMessage;
      const { id, shopId } = foundMessage.value;
      const cancelled = await cancelOne(options, { tenantId, shopId }, id);
      return cancelled.ok ? await afterCommand(() => message(tenantId, id)) : cancelled;
    },
    cancelQueue: (shop, filter) => cancelMatching(options, shop, filter),
  };
}

/**
 * Adds a queued message's position and estimate to its record, while its shop is in memory. Callers poll: the record is
 * made again only after the shop has changed, or in another second.
 */
function placed(message: OwnedView, { actors, clock, times }: MessageOptions): MessageView {
  const { view, shop, placed: last } = message;
  if (view.status !== 'queued') return view;
  const state = activeShop(actors, shop);
  if (state === undefined) return view;
  const secondMs = estimateBaseMs(clock);
  if (last?.state.deref() === state && last.secondMs === secondMs) return last.view;
  const shown = withPlace(view, state, { times, nowMs: secondMs, lastView: last?.view });
  message.placed = { state: new WeakRef(state), secondMs, view: shown };
  return shown;
}

/** Returns the time from which an estimate counts: a whole second, so that all polls within it show one record. */
function estimateBaseMs(clock: Pick<Clock, 'wallMs'>): number {
  return Math.ceil(clock.wallMs() / 1_000) * 1_000;
}

/** Returns the shard and the keys of a shop, even for a suspended shop with an actor that does not answer. */
async function storedShop(
  shop: ShopReference,
  actors: Pick<Actors, 'state'>,
): Promise<Pick<ShopState, 'shard' | 'keys'> | undefined> {
  try {
    return await committedShop(actors, shopAddress(shop));
  } catch (error) {
    if (!(error instanceof RuntimeFailure && error.code === 'SUSPENDED')) throw error;
    const { shard } = shopAddress(shop);
    return { shard, keys: shopKeys(shard, shop.shopId) };
  }
}

/** Returns a page of a shop's messages, also while its actor waits for an operator. */
async function listStored(
  shop: ShopReference,
  query: Parameters<ShopOperations['listMessages']>[1],
  options: MessageOptions,
): ReturnType<ShopOperations['listMessages']> {
  const foundShop = await storedShop(shop, options.actors);
  if (foundShop === undefined) return NO_SHOP;
  const { items, nextCursor } = await listMessages(foundShop, options.store, query);
  const state = activeShop(options.actors, shopAddress(shop));
  if (state === undefined) return done({ items, nextCursor });
  const context = { times: options.times, nowMs: estimateBaseMs(options.clock) };
  const placedItems = items.map((view) =>
    view.status === 'queued' ? withPlace(view, state, context) : view,
  );
  return done({ items: placedItems, nextCursor });
}

const NOT_FOUND = failed('MESSAGE_NOT_FOUND');

type FoundMessage = Outcome<MessageView, 'MESSAGE_NOT_FOUND'>;

/**
 * Reads a message from Redis. The message was not requested lately, and may not be requested again. So its view is not
 * cached.
 */
async function readMessage(tenant: TenantState, id: string, options: MessageOptions): Promise<FoundMessage> {
  const { shard } = tenant;
  const [fields] = await options.store.lookUp(shard, [messageLookup(shard, id)]);
  return shownTo(tenant, viewOf(id, fields), options);
}

/** Shows a tenant its message, unless the shop is erased. Messages of an erased shop may still be stored. */
function shownTo(tenant: TenantState, message: OwnedView | undefined, options: MessageOptions): FoundMessage {
  const isOwn = message?.tenantId === tenant.tenantId && tenant.shops.has(message.view.shopId);
  return isOwn ? done(placed(message, options)) : NOT_FOUND;
}
