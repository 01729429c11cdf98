/** Stops batches without a caller: when people opt out, and for events of the number and its session. */

import { recipientKey } from '../../../../policy/number-forms.ts';
import { DAY_MS } from '../../../../runtime/durations.ts';
import type { BatchStopReason } from '../../../batch-status.ts';
import { type Batch, isActive } from '../../state/batches.ts';
import { channelState, pacingState, type ShopState } from '../../state/shop-state.ts';
import { eventsBetween } from '../builder/shop-events.ts';
import type { TurnBuilder } from '../builder/turn-builder.ts';
import { changeBatch } from './batch-turns.ts';

/** The most opt-outs among the last 50 recipients. One more stops the batch. */
const MOST_OPTED_OUT = 2;
/** The number of rate signals within a day that stops a batch. */
const RATE_SIGNALS = 2;

/** Stops the batches with too many opt-outs after a person opted out, under a number or the network's own id. */
export function stopBatchesOfOptOut(builder: TurnBuilder, writtenBy: string): void {
  if (builder.state.batches.length === 0) return;
  const person = recipientKey(writtenBy);
  for (const batch of builder.state.batches) {
    if (!batch.watched.includes(person) || batch.optedOut.includes(person)) continue;
    const optedOut = [...batch.optedOut, person];
    changeBatch(builder, { ...batch, optedOut });
    if (optedOut.length > MOST_OPTED_OUT) stop(builder, { ...batch, optedOut }, 'RECIPIENTS_OPTED_OUT');
  }
}

/** Stops batches for events of the number and its session in this turn. */
export function stopBatchesOfNumber(builder: TurnBuilder): void {
  const { before, state, nowMs } = builder;
  if (state.batches.length === 0) return;
  const reason = reasonBetween(before, state);
  if (reason !== undefined) for (const batch of state.batches) stop(builder, batch, reason);
  if (pacingState(state) !== 'paused' || pacingState(before) === 'paused') return;
  for (const batch of builder.state.batches) {
    const recentSignalsMs = batch.rateSignalsMs.filter((atMs) => atMs > nowMs - DAY_MS);
    const changedBatch = { ...batch, rateSignalsMs: [...recentSignalsMs, nowMs] };
    changeBatch(builder, changedBatch);
    if (changedBatch.rateSignalsMs.length >= RATE_SIGNALS) stop(builder, changedBatch, 'RATE_SIGNALS');
  }
}

function reasonBetween(before: ShopState, after: ShopState): BatchStopReason | undefined {
  const types = eventsBetween(before, after).map(({ type }) => type);
  const isBanned = channelState(after) === 'banned' && channelState(before) !== 'banned';
  if (isBanned || types.includes('channel.session_lost')) return 'SESSION_LOST';
  if (types.includes('number.restricted')) return 'NUMBER_RESTRICTED';
  return types.includes('number.warned') ? 'NUMBER_WARNED' : undefined;
}

function stop(builder: TurnBuilder, batch: Batch, reason: BatchStopReason): void {
  if (!isActive(batch)) return;
  changeBatch(builder, { ...batch, status: 'stopped', stop: { reason, atMs: builder.nowMs } });
  builder.publish('batch.stopped', { id: batch.id, reason });
  builder.perform({ type: 'count_batch', change: 'stopped', reason });
}
