/**
 * A batch sends to one recipient at a time, and only while all messages in the shop's queue wait for their batch. So
 * single sends go first. Each message is made by an ordinary send. An effect requests that send. Its turn decides it,
 * and commits it together with the progress of the batch.
 */
import { batchOpensMs, MOST_POSTPONED } from '../../../../policy/batch-forecast.ts';
import type { FailureCode } from '../../../failure.ts';
import type { BatchPlace } from '../../shop-operations.ts';
import { batchObstacle, isSetAside } from '../../state/batch-holds.ts';
import {
  type Batch,
  batchEndWrites,
  batchKey,
  hasMessages,
  isActive,
  isDone,
  nextPlace,
  nextTryMs,
  withoutMoments,
} from '../../state/batches.ts';
import { isIdle, isOpen, pacingState, type QueuedMessage, type ShopState } from '../../state/shop-state.ts';
import type { TurnBuilder } from '../builder/turn-builder.ts';
import { changeBatch, endUnsent } from './batch-turns.ts';

/** The longest time for the reply to a requested send. */
const SEND_REPLY_MS = 30_000;

/** Returns the time of the next check of the shop's batches. */
export function batchesDueAtMs(state: ShopState): number | undefined {
  if (state.batches.length === 0 || !state.isDispatching) return undefined;
  const isFree = mayBatchSend(state, (message) => isSetAside(state, message));
  const requestedUntilMs = Math.max(0, ...state.batches.map(({ requested }) => requested?.untilMs ?? 0));
  let dueAtMs = Number.POSITIVE_INFINITY;
  for (const batch of state.batches)
    dueAtMs = Math.min(dueAtMs, dueOf(batch, { state, isFree, requestedUntilMs }));
  return dueAtMs === Number.POSITIVE_INFINITY ? undefined : dueAtMs;
}

function dueOf(
  batch: Batch,
  circumstances: { readonly state: ShopState; readonly isFree: boolean; readonly requestedUntilMs: number },
): number {
  const { id, status, notAfterMs, notBeforeMs } = batch;
  const { state, isFree, requestedUntilMs } = circumstances;
  const heldMs = isActive(batch) && holdsBack(state, id) ? batch.tryAtMs : Number.POSITIVE_INFINITY;
  // No recipient is left to decide on, so the batch ends with its messages.
  if (isDone(batch, Number.POSITIVE_INFINITY)) {
    if (hasMessages(state, id))
      return Math.min(heldMs, hasUnsent(state, id) ? notAfterMs : Number.POSITIVE_INFINITY);
    return status === 'cancelled' || status === 'expired' ? 0 : Math.min(notBeforeMs, notAfterMs);
  }
  if (!isActive(batch) || !isFree) return Math.min(notAfterMs, heldMs);
  return Math.min(notAfterMs, heldMs, Math.max(nextTryMs(batch), requestedUntilMs));
}

/** True if a message of the batch waits in the queue, and only its batch can delay it. */
function holdsBack(state: ShopState, batchId: string): boolean {
  return isIdle(state) && state.queue.some((message) => message.batchId === batchId);
}

/** True if a message of the batch is not on the wire yet. */
function hasUnsent(state: ShopState, batchId: string): boolean {
  if (state.currentMessage?.batchId === batchId && pacingState(state) !== 'sending') return true;
  return state.queue.some((message) => message.batchId === batchId);
}

/** Checks all batches: ends the finished ones and starts one send. */
export function sendNextOfBatches(builder: TurnBuilder): void {
  if (!builder.state.isDispatching) return;
  for (const batch of builder.state.batches) endIfOver(builder, batch);
  for (const batch of builder.state.batches) noteHold(builder, batch);
  const { state, nowMs } = builder;
  if (
    !mayBatchSendNow(builder) ||
    state.batches.some(({ requested }) => requested !== null && requested.untilMs > nowMs)
  )
    return;
  for (const batch of state.batches) {
    if (!isActive(batch) || nextTryMs(batch) > nowMs) continue;
    const opensMs = batchOpensMs(batch, nowMs);
    const place = nextPlace(batch, nowMs);
    if (opensMs > nowMs || place === undefined) {
      changeBatch(builder, { ...batch, tryAtMs: opensMs });
      continue;
    }
    changeBatch(builder, { ...batch, requested: { place, untilMs: nowMs + SEND_REPLY_MS } });
    builder.perform({ type: 'send_batched', batchId: batch.id, place });
    return;
  }
}

/** Accepted messages that may not leave in quiet hours are checked again when those end. */
function noteHold(builder: TurnBuilder, batch: Batch): void {
  if (!isActive(batch) || !holdsBack(builder.state, batch.id)) return;
  const opensMs = batchOpensMs(batch, builder.nowMs);
  if (opensMs > builder.nowMs) changeBatch(builder, { ...batch, tryAtMs: opensMs });
}

/** True if a message of a batch would leave next: no other message waits, and the shop may send. */
function mayBatchSend(state: ShopState, waits: (message: QueuedMessage) => boolean): boolean {
  if (state.currentMessage !== undefined || !isOpen(state) || pacingState(state) === 'paused') return false;
  return state.queue.every(waits);
}

function mayBatchSendNow({ state, nowMs }: TurnBuilder): boolean {
  return mayBatchSend(state, (message) => batchObstacle(state.batches, message, nowMs) === 'wait');
}

/** Returns the batch if its next recipient has this index. Undefined if it has moved on, or may not send now. */
export function batchDueFor(builder: TurnBuilder, { id, place }: BatchPlace): Batch | undefined {
  const { state, nowMs } = builder;
  const batch = state.batches.find((batch) => batch.id === id);
  if (batch === undefined || !isActive(batch) || nowMs > batch.notAfterMs) return undefined;
  if (!mayBatchSendNow(builder) || batchOpensMs(batch, nowMs) > nowMs) return undefined;
  return nextPlace(batch, nowMs) === place ? batch : undefined;
}

/** A reply came without a decision: the send is requested again. */
export function requestAgain(builder: TurnBuilder, { id, place }: BatchPlace): void {
  const batch = builder.state.batches.find((batch) => batch.id === id);
  if (batch?.requested?.place === place) changeBatch(builder, { ...batch, requested: null });
}

/** Removes a recipient from the waiting ones and stores the result: a message id or a code. */
export function storeResult(
  builder: TurnBuilder,
  batch: Batch,
  recipientPlace: BatchPlace,
  result: string,
): Batch {
  builder.write(['HSET', batchKey(builder.state.keys, batch.id), `e:${recipientPlace.place}`, result]);
  const { left } = batch;
  const { place, was: recipientClass } = recipientPlace;
  return {
    ...dropRecipient(batch, place),
    movedAtMs: builder.nowMs,
    left: recipientClass === 'known' ? left : { ...left, [recipientClass]: left[recipientClass] - 1 },
  };
}

/** Postpones a recipient, so that later ones go first. If too many are postponed, all wait. */
export function postpone(batch: Batch, place: number, tryAtMs: number): Batch {
  const remainder = dropRecipient(batch, place);
  if (remainder.postponed.length >= MOST_POSTPONED) return { ...batch, requested: null, tryAtMs };
  return { ...remainder, postponed: [...remainder.postponed, { place, tryAtMs }] };
}

/** Refusals that are about one recipient, or about some of them: the others need not wait. */
export function concernsRecipient(code: FailureCode, { isFilled }: Batch): boolean {
  if (code === 'BULK_PATTERN_BLOCKED') return isFilled;
  return code === 'RECIPIENT_RATE_LIMITED' || code === 'DECLARED_RECIPIENT_CAP_REACHED';
}

function dropRecipient(batch: Batch, place: number): Batch {
  const { next, postponed } = batch;
  return {
    ...batch,
    requested: null,
    next: place === next ? next + 1 : next,
    postponed: postponed.filter((recipient) => recipient.place !== place),
  };
}

/** Ends a batch that is cancelled, overdue or through, unless one of its messages waits or is being sent. */
export function endIfOver(builder: TurnBuilder, { id, status, notAfterMs }: Batch): void {
  const { nowMs } = builder;
  const isOverdue = status !== 'cancelled' && notAfterMs <= nowMs;
  if (isOverdue) endUnsent(builder, id, 'EXPIRED');
  // `endUnsent` may have changed it.
  const batchNow = builder.state.batches.find((batch) => batch.id === id);
  if (batchNow === undefined) return;
  const isAllSent = isDone(batchNow, nowMs);
  if (!isAllSent && !isOverdue) return;
  const isFinished = isAllSent && batchNow.status !== 'expired';
  const uncancelledEnd = isFinished ? 'finished' : 'expired';
  const endedBatch = { ...batchNow, status: status === 'cancelled' ? status : uncancelledEnd } as const;
  // One of its messages waits or is being sent.
  if (hasMessages(builder.state, id)) {
    if (isOverdue && !isAllSent) changeBatch(builder, endedBatch);
    return;
  }
  end(builder, endedBatch);
}

type OverBatch = Batch & { readonly status: 'finished' | 'cancelled' | 'expired' };

function end(builder: TurnBuilder, batch: OverBatch): void {
  const { state, nowMs, retentionMs } = builder;
  const { id, status } = batch;
  const { queued, failed } = batch.counts;
  // The batch is not notified of messages that end outside the actor: they are still counted as queued here.
  const counts = { ...batch.counts, queued: 0, failed: failed + queued };
  const record = { ...withoutMoments(batch), counts, endedAtMs: nowMs };
  builder.write(...batchEndWrites(state.keys, record, retentionMs));
  builder.change({ batches: state.batches.filter((batch) => batch.id !== id) });
  builder.publish('batch.finished', { id, status });
  builder.perform({ type: 'count_batch', change: status, reason: null });
  if (queued > 0) builder.perform({ type: 'count_recipients', outcome: 'failed', code: null, count: queued });
}
