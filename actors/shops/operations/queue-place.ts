import { MEAN_COMPOSING_MS } from '../../sessions/session-timing.ts';
import type { PacingTimes } from '../machines/pacing-times.ts';
import type { MessageView } from '../shop-operations.ts';
import { batchObstacle } from '../state/batch-holds.ts';
import type { BatchMember } from '../state/batches.ts';
import { channelState, pacingState, type ShopState } from '../state/shop-state.ts';

/** The times on which an estimate is based. */
export type EstimateTimes = Pick<PacingTimes, 'sendGap'>;

/**
 * Adds the message's position in its shop's queue to the record, and an estimate of when it leaves. Returns the record
 * unchanged if the shop's queue does not have it. Returns `lastView`, the record last shown, if nothing of it has
 * changed: its cached JSON is then found again.
 */
export function withPlace(
  view: MessageView,
  state: ShopState,
  {
    times,
    nowMs,
    lastView,
  }: { readonly times: EstimateTimes; readonly nowMs: number; readonly lastView?: MessageView | undefined },
): MessageView {
  const position = positionOf(view.id, state);
  if (position === undefined) return view;
  const estimatedSendAt = estimate(state, position, { times, nowMs });
  const isSame = lastView?.position === position && lastView.estimatedSendAt === estimatedSendAt;
  return isSame ? lastView : { ...view, position, estimatedSendAt };
}

/** Returns the average time of one message, with the gap after it. */
export function messageTimeMs({ sendGap }: EstimateTimes): number {
  return (sendGap.minMs + sendGap.maxMs) / 2 + MEAN_COMPOSING_MS;
}

function positionOf(messageId: string, { queue, currentMessage }: ShopState): number | undefined {
  if (currentMessage?.messageId === messageId) return 1;
  const index = queue.findIndex((message) => message.messageId === messageId);
  if (index === -1) return undefined;
  return index + (currentMessage === undefined ? 1 : 2);
}

/**
 * Returns when the message leaves if nothing comes in between, in whole seconds: more digits would be false precision.
 * Null while the queue is stopped, or while the message's batch delays it, for an unknown time.
 */
function estimate(
  state: ShopState,
  position: number,
  { times, nowMs }: { readonly times: EstimateTimes; readonly nowMs: number },
): string | null {
  const { untilMs, heldByOperator } = state.pacing.context;
  const { batches, currentMessage, queue } = state;
  const index = position - (currentMessage === undefined ? 1 : 2);
  const isKeptBack = (message: BatchMember | undefined): boolean =>
    batches.length > 0 && batchObstacle(batches, message, nowMs) === 'wait';
  if (channelState(state) !== 'connected' || heldByOperator || !state.isTenantActive) return null;
  if (isKeptBack(index < 0 ? currentMessage : queue[index])) return null;
  const isResting = pacingState(state) === 'gap' || pacingState(state) === 'paused';
  const startMs = isResting ? Math.max(nowMs, untilMs ?? nowMs) : nowMs;
  // Messages that wait for their batch do not delay the others.
  const keptBackCount =
    batches.length === 0 ? 0 : queue.slice(0, Math.max(0, index)).filter(isKeptBack).length;
  const leavingCount = position - 1 - keptBackCount;
  const leavesMs = startMs + leavingCount * messageTimeMs(times);
  return new Date(Math.ceil(leavesMs / 1_000) * 1_000).toISOString();
}
