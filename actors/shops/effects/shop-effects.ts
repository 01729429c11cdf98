import type { Actors } from '../../../runtime/actors.ts';
import type { Address } from '../../../runtime/address.ts';
import type { Logger } from '../../../runtime/logger.ts';
import type { Store } from '../../../runtime/store.ts';
import type { ActorEventFeed } from '../../actor-event-feed.ts';
import type { SessionAddress, SessionHost } from '../../sessions/session-host.ts';
import { tenantAddress } from '../../tenants/tenant-keys.ts';
import { publicChannelStatus } from '../machines/channel-context.ts';
import type { PoolClient } from '../pool-link/pool-client.ts';
import type { PoolSessions } from '../pool-link/pool-sessions.ts';
import type { CountEffect, NumberEffect, ShopEffect } from '../protocol/shop-effect.ts';
import { shopOf } from '../records/shop-keys.ts';
import type { ShopOperations, ShopReference } from '../shop-operations.ts';
import type { ChannelWaiters } from './channel-waiters.ts';
import { batchSender, scheduledSender } from './due-senders.ts';
import { confirmNumber } from './one-shop-per-number.ts';
import { peopleForgetter } from './person-memory.ts';
import type { SharedNumbers } from './shared-numbers.ts';

/** Returns the session that belongs to a shop's address. */
export function sessionOf(address: Address): SessionAddress {
  return { shard: address.shard, ...shopOf(address) };
}

export interface ShopEffectsOptions {
  readonly actors: Actors;
  readonly host: SessionHost;
  readonly waiters: ChannelWaiters;
  /** Wakes the callers that wait for a tenant's events, and its webhooks. */
  readonly announceEvents: (tenantId: string) => void;
  readonly feed: ActorEventFeed;
  readonly poolClient: PoolClient;
  readonly poolSessions: PoolSessions;
  readonly sharedNumbers: SharedNumbers;
  readonly store: Pick<Store, 'read' | 'append'>;
  /** Sends as a caller does. Used for scheduled sends that are due, and for messages of batches. */
  readonly send: ShopOperations['send'];
  /** Counts results for the metrics of the node. */
  readonly counting: (effect: CountEffect) => void;
  readonly log: Logger;
}

/** Carries out the effects of a shop's turns, after their commit succeeded. */
export function shopEffects(options: ShopEffectsOptions): (effect: ShopEffect, address: Address) => void {
  const { actors, host, waiters, announceEvents, feed, poolClient, poolSessions } = options;
  const sendScheduled = scheduledSender(options);
  const sendBatched = batchSender(options);
  const forgetPeople = peopleForgetter(options);
  return (effect, address) => {
    // The effect of every send comes first: this is the hot path.
    if (effect.type === 'announce_message') {
      const { source, messageId, status, reason, ageMs } = effect;
      const { tenantId, shopId } = source.shop;
      feed.publish('message', { tenantId, shopId, shop: source.name, messageId, status, reason, ageMs });
      return;
    }
    const session = sessionOf(address);
    const { tenantId, shopId } = session;
    switch (effect.type) {
      case 'announce_events':
        announceEvents(tenantId);
        break;
      case 'send_scheduled':
        sendScheduled(session, effect.scheduledId);
        break;
      case 'send_batched':
        sendBatched(session, effect.batchId, effect.place);
        break;
      case 'forget_people':
        forgetPeople(tenantId, effect);
        break;
      case 'open':
        host.open(session, effect.opening);
        break;
      case 'close':
        host.close(session);
        break;
      case 'erase':
        eraseSession(options, session);
        break;
      case 'groups_reported':
        waiters.notify(shopId);
        break;
      case 'first_look':
      case 'requeue':
      case 'cut_accepted':
        actors.tell(address, effect);
        break;
      case 'confirm_number':
      case 'note_number':
      case 'owner_number':
        noteNumber(options, { tenantId, shopId }, effect);
        break;
      case 'count_receipt':
      case 'count_scheduled':
      case 'count_batch':
      case 'count_recipients':
        options.counting(effect);
        break;
      case 'ask_pool':
      case 'find_pool':
      case 'note_end':
      case 'report_opt_out':
        poolClient.perform(effect, address);
        break;
      case 'announce_channel':
        waiters.notify(shopId);
        poolSessions.refresh({ tenantId, shopId });
        publishState(feed, effect);
        break;
      case 'announce_pacing':
        publishState(feed, effect);
        break;
      default:
        // An effect that has no case and is not a `SessionOrder` does not compile.
        host.order(session, effect);
    }
  };
}

function eraseSession({ host, log }: ShopEffectsOptions, session: SessionAddress): void {
  host.erase(session).catch((error: unknown) => {
    const { tenantId, shopId } = session;
    const line = 'credentials of an ended session could not be erased';
    log.error({ tenantId, shopId, err: error }, line);
  });
}

/** Shows operators the state of one of a shop's machines. */
function publishState(
  feed: ActorEventFeed,
  effect: Extract<ShopEffect, { readonly type: 'announce_channel' | 'announce_pacing' }>,
): void {
  const { tenantId, shopId } = effect.source.shop;
  const shop = effect.source.name;
  if (effect.type === 'announce_channel') {
    const { state } = effect;
    feed.publish('channel', { tenantId, shopId, shop, status: publicChannelStatus(state), state });
  } else {
    const { state, heldByOperator, began } = effect;
    feed.publish('pacing', { tenantId, shopId, shop, state, heldByOperator, began });
  }
}

/** Carries out an effect about the number that a shop has connected. */
function noteNumber(options: ShopEffectsOptions, shop: ShopReference, effect: NumberEffect): void {
  const { actors, sharedNumbers } = options;
  const { phone } = effect;
  switch (effect.type) {
    case 'confirm_number':
      confirmNumber(shop, phone, options);
      sharedNumbers.onConnected({ ...shop, name: effect.source.name }, phone);
      break;
    case 'note_number':
      sharedNumbers.remember(shop, phone);
      break;
    case 'owner_number':
      actors.tell(tenantAddress(shop.tenantId), { type: 'owner_number', phone });
      break;
  }
}
