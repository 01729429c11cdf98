import { done, failed } from '../../../failure.ts';
import type { CommandOf } from '../../protocol/shop-commands.ts';
import type { ShopReplies } from '../../protocol/shop-replies.ts';
import { type Batch, isActive } from '../../state/batches.ts';
import type { TurnBuilder } from '../builder/turn-builder.ts';
import type { BatchFacts } from './batch-facts.ts';
import { endIfOver } from './batch-progress.ts';
import { changeBatch, endUnsent } from './batch-turns.ts';

/** Pauses, resumes or cancels a batch. A repeated command gets the same answer. */
export function steerBatch(
  builder: TurnBuilder,
  { batchId, order: action }: CommandOf<'steer_batch'>,
  { endedAs }: BatchFacts,
): ShopReplies['steer_batch'] {
  const batch = builder.state.batches.find(({ id }) => id === batchId);
  const status = batch?.status ?? endedAs;
  if (status === undefined) return failed('BATCH_NOT_FOUND');
  if (status === 'cancelled' && action === 'cancel') return done({ batchId });
  if (batch === undefined || status === 'cancelled' || status === 'expired') return failed('BATCH_ENDED');
  if (action === 'cancel') cancelBatch(builder, batch);
  else if (action === 'pause' && isActive(batch)) changeBatch(builder, { ...batch, status: 'paused' });
  else if (action === 'resume' && !isActive(batch)) changeBatch(builder, resume(batch, builder.nowMs));
  return done({ batchId });
}

function cancelBatch(builder: TurnBuilder, batch: Batch): void {
  const cancelled = { ...batch, status: 'cancelled' } as const;
  changeBatch(builder, cancelled);
  endUnsent(builder, batch.id, 'CANCELLED');
  // So the reply has the time of the end already, unless one of its messages is on the wire.
  endIfOver(builder, cancelled);
}

/** A caller resumed it, so the earlier reasons for a stop no longer count. */
function resume(batch: Batch, nowMs: number): Batch {
  const status = batch.startedAtMs === null ? 'waiting' : 'running';
  const clearedFields = { stop: null, watched: [], optedOut: [], rateSignalsMs: [], tryAtMs: 0 };
  return { ...batch, status, movedAtMs: nowMs, ...clearedFields };
}
