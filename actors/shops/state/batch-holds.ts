/** Decides if the accepted messages of a batch may leave, and which of them wait. */
import { batchOpensMs } from '../../../policy/batch-forecast.ts';
import type { MessageReason } from '../../message-status.ts';
import type { Batch, OfBatch } from './batches.ts';

/**
 * Returns why a message may not leave now. It waits until its batch's quiet hours end or a caller resumes the batch, or
 * it ends with a reason. undefined: it may leave, or belongs to no batch.
 */
export function batchObstacle(
  batches: readonly Batch[],
  message: OfBatch | undefined,
  nowMs: number,
): 'wait' | Extract<MessageReason, 'CANCELLED' | 'EXPIRED'> | undefined {
  const batch = batchOf(batches, message);
  if (batch === undefined) return undefined;
  if (batch.status === 'cancelled') return 'CANCELLED';
  if (batch.status === 'expired' || batch.notAfterMs <= nowMs) return 'EXPIRED';
  return isHalted(batch) || batchOpensMs(batch, nowMs) > nowMs ? 'wait' : undefined;
}

/** True if a queued message waits for its batch, so that it delays no other message. */
export function isSetAside(batches: readonly Batch[], message: OfBatch): boolean {
  const batch = batchOf(batches, message);
  return batch !== undefined && (isHalted(batch) || batch.heldUntilMs > 0);
}

/** Returns the batches after a message left the queue: its batch keeps none back. */
export function withoutHold(batches: readonly Batch[], message: OfBatch): readonly Batch[] {
  const batch = batchOf(batches, message);
  if (batch === undefined || batch.heldUntilMs === 0) return batches;
  return batches.map((one) => (one === batch ? { ...batch, heldUntilMs: 0 } : one));
}

function isHalted({ status }: Batch): boolean {
  return status === 'paused' || status === 'stopped';
}

function batchOf(batches: readonly Batch[], message: OfBatch | undefined): Batch | undefined {
  if (message?.batchId === undefined) return undefined;
  return batches.find(({ id }) => id === message.batchId);
}
