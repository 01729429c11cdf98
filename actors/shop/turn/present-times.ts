import { RECONNECT_CEILING_MS } from '../machines/reconnect-delay.ts';
import { channel, encodeMachines, pacing } from '../machines/shop-machines.ts';
import { changedShop, type QueuedMessage, type ShopState } from '../record/shop-state.ts';
import type { PacingTimes } from './turn-builder.ts';

/** The earlier of both; null stays null. */
function notAfter(storedMs: number | null, mostMs: number): number | null {
  return storedMs === null ? null : Math.min(storedMs, mostMs);
}

/**
 * The shop without waits that are longer than they can be at `nowMs`: where a clock that was ahead stored a gap, a
 * pause or an age, the shop would stand still until that time has come. Each wait starts anew at its full length, so
 * none is shorter than it must be.
 */
export function withPresentTimes(
  state: ShopState,
  nowMs: number,
  times: Pick<PacingTimes, 'gapToMs' | 'pauseMs' | 'coldPauseMs' | 'outcomeMs'>,
): ShopState {
  const { channel: channelBefore, pacing: pacingBefore } = state;
  const waits = pacingBefore.context;
  const longestMs = { gap: times.gapToMs, paused: times.pauseMs }[String(pacingBefore.value)];
  const untilMs = notAfter(waits.untilMs, nowMs + (longestMs ?? times.outcomeMs));
  const coldPausedUntilMs = notAfter(waits.coldPausedUntilMs ?? null, nowMs + times.coldPauseMs);
  const ages = channelBefore.context;
  const pairedAtMs = notAfter(ages.pairedAtMs, nowMs);
  const warmupSinceMs = notAfter(ages.warmupSinceMs ?? null, nowMs);
  const reconnectAtMs = notAfter(ages.reconnectAtMs, nowMs + RECONNECT_CEILING_MS);
  const downSinceMs = notAfter(ages.downSinceMs, nowMs);
  const isPresent =
    untilMs === waits.untilMs &&
    coldPausedUntilMs === (waits.coldPausedUntilMs ?? null) &&
    pairedAtMs === ages.pairedAtMs &&
    warmupSinceMs === (ages.warmupSinceMs ?? null) &&
    reconnectAtMs === ages.reconnectAtMs &&
    downSinceMs === ages.downSinceMs;
  const queue = state.queue.map((message) => presentMessage(message, nowMs));
  const inHand = state.inHand && presentMessage(state.inHand, nowMs);
  if (isPresent) return changedShop(state, { queue, inHand });
  const machines = {
    channel: channel.restore({
      value: channelBefore.value,
      context: { ...ages, pairedAtMs, warmupSinceMs, reconnectAtMs, downSinceMs },
    }),
    pacing: pacing.restore({ value: pacingBefore.value, context: { ...waits, untilMs, coldPausedUntilMs } }),
  };
  const write = ['HSET', state.keys.shop, 'actor', encodeMachines(machines, nowMs)] as const;
  return changedShop(state, { ...machines, queue, inHand, unstored: [...state.unstored, write] });
}

function presentMessage(message: QueuedMessage, nowMs: number): QueuedMessage {
  return message.createdAtMs <= nowMs ? message : { ...message, createdAtMs: nowMs };
}
