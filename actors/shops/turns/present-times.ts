import type { ChannelContext } from '../machines/channel-context.ts';
import type { PacingTimes } from '../machines/pacing-times.ts';
import { longestReconnectMs } from '../machines/reconnect-delay.ts';
import { channelStepper, encodeMachines, pacingStepper } from '../machines/shop-machines.ts';
import { changedShop, type QueuedMessage, type ShopState } from '../state/shop-state.ts';
import { encodeLimits, presentLimits } from '../state/stored-limits.ts';

/** Returns the earlier of both; null stays null. */
function earlierMs(storedMs: number | null, mostMs: number): number | null {
  return storedMs === null ? null : Math.min(storedMs, mostMs);
}

/**
 * Returns the shop with each wait cut to the longest that is possible at `nowMs`. If a clock that was ahead stored a
 * gap, a pause or an age, the shop would stop until that time. A wait that is cut starts again at its full length, so
 * it is not too short.
 */
export function withPresentTimes(
  state: ShopState,
  nowMs: number,
  times: Pick<PacingTimes, 'sendGap' | 'pauseMs' | 'outcomeMs'>,
): ShopState {
  const { channel: channelBefore, pacing: pacingBefore } = state;
  const waits = pacingBefore.context;
  const pausedMs = Math.max(times.pauseMs, waits.pausedForMs ?? 0);
  const longestMs = { gap: times.sendGap.maxMs, paused: pausedMs }[String(pacingBefore.value)];
  const untilMs = earlierMs(waits.untilMs, nowMs + (longestMs ?? times.outcomeMs));
  const ages = channelBefore.context;
  const pairedAtMs = earlierMs(ages.pairedAtMs, nowMs);
  const warmupSinceMs = earlierMs(ages.warmupSinceMs ?? null, nowMs);
  const ban = ages.ban == null ? ages.ban : presentBan(ages.ban, nowMs);
  const isBanned = channelBefore.value === 'banned' && ban != null;
  const longestWaitMs = longestReconnectMs(ages.lastEnd?.end);
  const reconnectAtMs = isBanned ? ban.untilMs : earlierMs(ages.reconnectAtMs, nowMs + longestWaitMs);
  const downSinceMs = earlierMs(ages.downSinceMs, nowMs);
  const isPresent =
    untilMs === waits.untilMs &&
    pairedAtMs === ages.pairedAtMs &&
    warmupSinceMs === (ages.warmupSinceMs ?? null) &&
    ban?.untilMs === ages.ban?.untilMs &&
    reconnectAtMs === ages.reconnectAtMs &&
    downSinceMs === ages.downSinceMs;
  const queue = state.queue.map((message) => presentMessage(message, nowMs));
  const currentMessage = state.currentMessage && presentMessage(state.currentMessage, nowMs);
  const limits = presentLimits(state.limits, nowMs);
  const cutLimits = limits === state.limits ? [] : ['limits', encodeLimits(limits)];
  if (isPresent)
    return changedShop(state, { queue, currentMessage, limits, ...addUnstored(state, cutLimits) });
  const machines = {
    channel: channelStepper.restore({
      value: channelBefore.value,
      context: {
        ...ages,
        pairedAtMs,
        warmupSinceMs,
        reconnectAtMs,
        downSinceMs,
        ...(ban === undefined ? {} : { ban }),
      },
    }),
    pacing: pacingStepper.restore({ value: pacingBefore.value, context: { ...waits, untilMs } }),
  };
  const cut = ['actor', encodeMachines(machines, nowMs), ...cutLimits];
  return changedShop(state, { ...machines, queue, currentMessage, limits, ...addUnstored(state, cut) });
}

/** The next commit stores these fields, so that no later restart starts the waits again. */
function addUnstored(state: ShopState, fields: readonly string[]): Pick<ShopState, 'unstored'> {
  if (fields.length === 0) return { unstored: state.unstored };
  return { unstored: [...state.unstored, ['HSET', state.keys.shop, ...fields]] };
}

function presentBan(
  { untilMs, forMs }: NonNullable<ChannelContext['ban']>,
  nowMs: number,
): NonNullable<ChannelContext['ban']> {
  return { untilMs: Math.min(untilMs, nowMs + forMs), forMs };
}

function presentMessage(message: QueuedMessage, nowMs: number): QueuedMessage {
  return message.createdAtMs <= nowMs ? message : { ...message, createdAtMs: nowMs };
}
