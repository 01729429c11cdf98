/** Whether what a batch was let accept may leave, and what of it waits. */
import { batchOpensMs } from '../../../policy/batch-forecast.ts';
import type { MessageReason } from '../../message-status.ts';
import type { Batch, OfBatch } from './batches.ts';

/**
 * Why a message may not leave now: it waits for its batch's quiet hours to end or for somebody to resume the batch, or it ends
 * with a reason. undefined: it may, or belongs to no batch.
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

/** Whether a message in the queue was found to wait for its batch, so that it stands in nobody's way. */
export function isSetAside(batches: readonly Batch[], message: OfBatch): boolean {
  const batch = batchOf(batches, message);
  return batch !== undefined && (isHalted(batch) || batch.heldUntilMs > 0);
}

/** The batches once a message was taken from the queue: its batch holds none any more. */
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
