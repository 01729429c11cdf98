import { MINUTE_MS } from '../../../runtime/durations.ts';
import type { MessageReason } from '../../message-status.ts';
import { QUEUED_LIMIT_MS } from '../records/message-record.ts';
import type { QueuedMessage, ShopState } from '../state/shop-state.ts';

/**
 * After this long without a session a queued message fails MSGAPP_NOT_CONNECTED (docs/contract.md, Message states).
 */
export const NO_SESSION_LIMIT_MS = 10 * MINUTE_MS;

/** When a message that is not sent until then ends, and with which reason. */
export function waitingEnd(
  state: Pick<ShopState, 'channel'>,
  message: QueuedMessage,
): { readonly atMs: number; readonly reason: MessageReason } {
  const expiresAtMs = message.createdAtMs + QUEUED_LIMIT_MS;
  const { downSinceMs } = state.channel.context;
  if (downSinceMs !== null) {
    const givenUpAtMs = Math.max(downSinceMs, message.createdAtMs) + NO_SESSION_LIMIT_MS;
    if (givenUpAtMs <= expiresAtMs) return { atMs: givenUpAtMs, reason: 'MSGAPP_NOT_CONNECTED' };
  }
  return { atMs: expiresAtMs, reason: 'EXPIRED' };
}

/** Returns when the oldest waiting message has waited too long; the queue is in order of age. */
export function waitingDueAtMs(state: ShopState): number | undefined {
  const head = state.queue[0];
  return head && waitingEnd(state, head).atMs;
}
