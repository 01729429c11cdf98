/** Decides if the accepted messages of a batch may leave, and which of them wait. */
import { batchOpensMs } from '../../../policy/batch-forecast.ts';
import type { MessageReason } from '../../message-status.ts';
import type { Batch, BatchMember } from './batches.ts';
import { isIdle, type ShopState } from './shop-state.ts';

/**
 * Returns the reason why a message may not leave now. It waits until its batch's quiet hours end or a caller resumes
 * the batch, or it ends with a reason. Undefined if it may leave, or belongs to no batch.
 */
export function batchObstacle(
  batches: readonly Batch[],
  message: BatchMember | undefined,
  nowMs: number,
): 'wait' | Extract<MessageReason, 'CANCELLED' | 'EXPIRED'> | undefined {
  const batch = batchOf(batches, message);
  if (batch === undefined) return undefined;
  if (batch.status === 'cancelled') return 'CANCELLED';
  if (batch.status === 'expired' || batch.notAfterMs <= nowMs) return 'EXPIRED';
  return isHalted(batch) || batchOpensMs(batch, nowMs) > nowMs ? 'wait' : undefined;
}

/**
 * True if a queued message is known to wait for its batch, without reading the clock. An idle shop starts any message
 * that may leave. So the batch messages that remain in an idle shop wait for quiet hours to end.
 */
export function isSetAside(state: ShopState, message: BatchMember): boolean {
  const batch = batchOf(state.batches, message);
  return batch !== undefined && (isHalted(batch) || isIdle(state));
}

function isHalted({ status }: Batch): boolean {
  return status === 'paused' || status === 'stopped';
}

function batchOf(batches: readonly Batch[], message: BatchMember | undefined): Batch | undefined {
  if (message?.batchId === undefined) return undefined;
  return batches.find(({ id }) => id === message.batchId);
}
