import { isoOrNull } from '../../../iso-time.ts';
import { shopEvent, type TenantEvent } from '../../../tenants/stored-events/tenant-event.ts';
import { channelTrouble } from '../../machines/channel-trouble.ts';
import type { ShopEffect } from '../../protocol/shop-effect.ts';
import { channelState, pacingState, pausedBy, type ShopState } from '../../state/shop-state.ts';

const NONE: readonly TenantEvent[] = [];

/**
 * Returns the tenant's events about a turn's changes of channel, queue and limits. A drop that reconnects by itself has
 * none.
 */
export function eventsBetween(before: ShopState, after: ShopState): readonly TenantEvent[] {
  // Most turns leave them unchanged.
  const { channel, pacing, limits } = after;
  if (before.channel === channel && before.pacing === pacing && before.limits === limits) return NONE;
  const events = [
    channelEvent(before, after),
    queueEvent(before, after),
    restrictionEvent(before, after),
    quotaEvent(before, after),
  ];
  return events.filter((event) => event !== undefined);
}

function channelEvent(before: ShopState, after: ShopState): TenantEvent | undefined {
  const { shopId } = after.shop;
  const previous = channelState(before);
  const current = channelState(after);
  const { flagged, phone } = after.channel.context;
  const trouble = channelTrouble(current, after.channel.context) ?? {};
  if (flagged && !before.channel.context.flagged) return shopEvent('channel.session_lost', shopId, trouble);
  if (previous === current) return undefined;
  if (current === 'disconnected' || current === 'banned')
    return shopEvent('channel.disconnected', shopId, trouble);
  // The loss of a session that reconnected by itself was never published; a ban was.
  const { asked, ban } = before.channel.context;
  if (current !== 'connected' || (asked !== true && ban == null)) return undefined;
  // A connected session has reported its number.
  return shopEvent('channel.connected', shopId, { phone: phone ?? '' });
}

function queueEvent(before: ShopState, after: ShopState): TenantEvent | undefined {
  const { shopId } = after.shop;
  const previous = pausedBy(before);
  const current = pausedBy(after);
  if (previous === current) return undefined;
  if (current === null) return shopEvent('queue.resumed', shopId, {});
  const { untilMs } = after.pacing.context;
  const until = current === 'rate_signal' && untilMs !== null ? new Date(untilMs).toISOString() : null;
  return shopEvent('queue.paused', shopId, { pausedBy: current, pausedUntil: until });
}

function restrictionEvent(before: ShopState, after: ShopState): TenantEvent | undefined {
  const { shopId } = after.shop;
  const previous = before.limits.restriction;
  const current = after.limits.restriction;
  if (current === null) return previous === null ? undefined : shopEvent('number.unrestricted', shopId, {});
  // An assumed end moves with each report of the network.
  const isSameEnd = current.isEndKnown
    ? previous?.untilMs === current.untilMs
    : previous?.isEndKnown === false;
  if (previous?.kind === current.kind && isSameEnd) return undefined;
  const restrictedUntil = new Date(current.untilMs).toISOString();
  return shopEvent('number.restricted', shopId, { restriction: current.kind, restrictedUntil });
}

function quotaEvent(before: ShopState, after: ShopState): TenantEvent | undefined {
  const previous = before.limits.newChats;
  const current = after.limits.newChats;
  if (current === null || current.warning === null) return undefined;
  if (previous?.warning === current.warning && previous.endsAtMs === current.endsAtMs) return undefined;
  const { warning, quota, used, endsAtMs } = current;
  const data = { warning, quota, used, endsAt: isoOrNull(endsAtMs) };
  return shopEvent('number.warned', after.shop.shopId, data);
}

const NO_ANNOUNCEMENTS: readonly ShopEffect[] = [];

/** Returns the effects that show operators a turn's changes of channel and queue. */
export function announcementsBetween(before: ShopState, after: ShopState): readonly ShopEffect[] {
  if (before.channel === after.channel && before.qr === after.qr && before.pacing === after.pacing)
    return NO_ANNOUNCEMENTS;
  const announcements: ShopEffect[] = [];
  const state = channelState(after);
  if (state !== channelState(before) || after.qr !== before.qr)
    announcements.push({ type: 'announce_channel', source: after, state });
  const pause = pauseAnnouncement(before, after);
  if (pause !== undefined) announcements.push(pause);
  return announcements;
}

function pauseAnnouncement(before: ShopState, after: ShopState): ShopEffect | undefined {
  const { heldByOperator } = after.pacing.context;
  const wasHeld = before.pacing.context.heldByOperator;
  const state = pacingState(after);
  const isPaused = state === 'paused';
  const wasPaused = pacingState(before) === 'paused';
  if (heldByOperator === wasHeld && isPaused === wasPaused) return undefined;
  const bySignal = isPaused && !wasPaused ? 'rate_signal' : null;
  const began = heldByOperator && !wasHeld ? 'operator' : bySignal;
  return { type: 'announce_pacing', source: after, state, heldByOperator, began };
}
