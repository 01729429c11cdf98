/**
 * Batches of one text to many people. A shop's hash has the progress of batches that have not ended, which its actor
 * keeps in memory. A hash of each batch has its content and its recipients. It expires only after the batch has ended.
 */
import { batchOpensMs } from '../../../policy/batch-forecast.ts';
import { recipientKey } from '../../../policy/number-forms.ts';
import type { QuietHours } from '../../../policy/quiet-hours.ts';
import { hashFields, type Write } from '../../../runtime/store.ts';
import type { BatchStatus } from '../../batch-status.ts';
import { isFinal, type MessageReason, type MessageStatus } from '../../message-status.ts';
import type { BatchClass, BatchCounts, BatchStop } from '../batch-operations.ts';
import type { DraftContent } from '../message-content.ts';
import { dayEndsMs, dayOf } from '../records/message-days.ts';
import { isKeyField, keyField, type ShopKeys } from '../records/shop-keys.ts';

/** How many of the last recipients are watched for opt-outs. */
export const WATCHED = 50;

/** The stored progress of a batch; times in milliseconds since the Unix epoch. */
export interface BatchRecord {
  readonly id: string;
  readonly name: string;
  readonly status: BatchStatus;
  readonly createdAtMs: number;
  /** The time at which it first made a recipient's message, or found a repeated one. Null if it has not. */
  readonly startedAtMs: number | null;
  /** When it last decided on a recipient, was made, or was resumed. */
  readonly movedAtMs: number;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  readonly quietHours: QuietHours | null;
  readonly share: number;
  /** The number of recipients, and the index of the first one that is neither decided nor postponed. */
  readonly total: number;
  readonly next: number;
  /**
   * Indexes of postponed recipients, with the time until which each waits; at most `MOST_POSTPONED`
   * (policy/batch-forecast.ts).
   */
  readonly postponed: readonly PostponedRecipient[];
  /** How many waiting recipients were declared when they were added, and how many were known but never wrote. */
  readonly left: Readonly<Record<Exclude<BatchClass, 'known'>, number>>;
  /** True if the text has fields, so that the texts of recipients probably differ. */
  readonly isFilled: boolean;
  readonly counts: BatchCounts;
  readonly codes: Readonly<Record<string, number>>;
  /** The last `WATCHED` recipients, oldest first. */
  readonly watched: readonly number[];
  /** The watched recipients who opted out. */
  readonly optedOut: readonly number[];
  /** Rate signals of the last day. */
  readonly rateSignalsMs: readonly number[];
  readonly stop: BatchStop | null;
  readonly idempotencyKey: string | null;
}

/** A recipient who was passed over. */
interface PostponedRecipient {
  readonly place: number;
  readonly tryAtMs: number;
}

/** A batch that has not ended, as its shop's actor knows it. */
export interface Batch extends BatchRecord {
  /** The time of its next attempt, or of the end of the quiet hours that its messages wait for. Not stored. */
  readonly tryAtMs: number;
  /** The recipient with a requested send, and the deadline for its answer. Not stored. */
  readonly requested: { readonly place: number; readonly untilMs: number } | null;
}

/** The content to send, as it is stored. */
export interface BatchContent extends DraftContent {
  /** The request id of the call that made it. */
  readonly requestId: string;
  readonly traceparent?: string | undefined;
  /** A digest of all fields of the call. Absent if it had no idempotency key. */
  readonly digest?: string | undefined;
}

type Keys = Pick<ShopKeys, 'shop' | 'batches'>;

/**
 * Returns the key of the hash of one batch. Its fields:
 * - `content`;
 * - `r:<place>`: a recipient; `n:<number>`: this recipient's place; `e:<place>`: the result;
 * - `refused:`: recipients that were refused when the batch was made;
 * - `added:<digest>`: the reply to a call that added recipients;
 * - `ended`: the record, once the batch has ended.
 */
export function batchKey({ shop }: Pick<Keys, 'shop'>, batchId: string): string {
  return `${shop}:batch:${batchId}`;
}

/** Returns the key of the batches that ended on a day: their ids, with digests of their idempotency keys. */
export function endedBatchesKey({ shop }: Pick<Keys, 'shop'>, day: number): string {
  return `${shop}:batches-ended:${day}`;
}

/** Returns the batch's field with the answer to the call that added recipients with this idempotency key. */
export function firstCallField(idempotencyKey: string): string {
  return `added:${keyField(idempotencyKey)}`;
}

/** Returns the field under which a batch has the recipient with a number, in whichever form it is written. */
export function numberField(recipient: string): string {
  return `n:${recipientKey(recipient)}`;
}

/** Stores the changes between two lists of batches that have not ended. Writes nothing about ended ones. */
export function changedBatchWrites(
  keys: Keys,
  before: readonly Batch[],
  after: readonly Batch[],
): readonly Write[] {
  const changedBatches = after.filter((batch) => !before.includes(batch));
  return changedBatches.flatMap((batch): Write[] => {
    const text = encodeBatch(batch);
    const previous = before.find(({ id }) => id === batch.id);
    return previous !== undefined && encodeBatch(previous) === text
      ? []
      : [['HSET', keys.batches, batch.id, text]];
  });
}

/** Stores that a batch has ended: it expires like its messages. */
export function batchEndWrites(
  keys: Keys,
  batch: BatchRecord & { readonly endedAtMs: number },
  retentionMs: number,
): Write[] {
  const { id, idempotencyKey, endedAtMs } = batch;
  const keyFields = idempotencyKey === null ? [] : [keyField(idempotencyKey)];
  const day = dayOf(endedAtMs);
  const [ownKey, endedKey] = [batchKey(keys, id), endedBatchesKey(keys, day)];
  const expiresAtMs = dayEndsMs(day, retentionMs);
  return [
    ['HDEL', keys.batches, id, ...keyFields],
    ['HSET', ownKey, 'ended', JSON.stringify(batch)],
    ['PEXPIREAT', ownKey, expiresAtMs],
    ['HSET', endedKey, id, '', ...keyFields.flatMap((field) => [field, id])],
    ['PEXPIREAT', endedKey, expiresAtMs],
  ];
}

function encodeBatch(batch: Batch): string {
  return JSON.stringify(withoutMoments(batch));
}

/** Returns the stored part of a batch. */
export function withoutMoments({ tryAtMs: _, requested: __, ...record }: Batch): BatchRecord {
  return record;
}

/** Returns the batches that have not ended, oldest first, from the fields and values of their hash. */
export function decodeBatches(fields: readonly string[]): Batch[] {
  const batches = [...hashFields(fields)].flatMap(([id, text]): Batch[] =>
    isKeyField(id) ? [] : [{ ...(JSON.parse(text) as BatchRecord), tryAtMs: 0, requested: null }],
  );
  return batches.sort((left, right) => (left.id < right.id ? -1 : 1));
}

/** Counts the recipients without a decision. */
export function waitingOf({ total, next, postponed }: BatchRecord): number {
  return total - next + postponed.length;
}

/** True if it sends without a caller's help: it is waiting or running. */
export function isActive({ status }: BatchRecord): boolean {
  return status === 'waiting' || status === 'running';
}

/**
 * Returns the time since which an active batch has processed none of its waiting recipients. If several do so, it is
 * the earliest. If a batch begins later, its time is in the future. Undefined if no active batch has waiting
 * recipients.
 */
export function standsSinceMs(batches: readonly BatchRecord[]): number | undefined {
  let sinceMs: number | undefined;
  for (const batch of batches) {
    if (!isActive(batch) || waitingOf(batch) === 0) continue;
    sinceMs = Math.min(sinceMs ?? Number.POSITIVE_INFINITY, Math.max(batch.movedAtMs, batch.notBeforeMs));
  }
  return sinceMs;
}

/** True if it sends nothing more, so that it ends once its messages have ended. */
export function isDone(batch: BatchRecord, nowMs: number): boolean {
  if (batch.status === 'cancelled' || batch.status === 'expired') return true;
  if (waitingOf(batch) > 0) return false;
  // Until it has started it may be given recipients.
  return batch.startedAtMs !== null || (isActive(batch) && batch.notBeforeMs <= nowMs);
}

/** A message that may belong to a batch. */
export interface BatchMember {
  readonly batchId?: string | undefined;
}

/** True if a message of a batch waits in its shop, or is being sent. */
export function hasMessages(
  {
    queue,
    currentMessage,
  }: { readonly queue: readonly BatchMember[]; readonly currentMessage: BatchMember | undefined },
  batchId: string,
): boolean {
  return currentMessage?.batchId === batchId || queue.some((message) => message.batchId === batchId);
}

/** Returns the index of the next recipient, or undefined if none is possible now. */
export function nextPlace({ postponed, next, total }: BatchRecord, nowMs: number): number | undefined {
  const dueRecipient = postponed.find(({ tryAtMs }) => tryAtMs <= nowMs);
  return dueRecipient?.place ?? (next < total ? next : undefined);
}

/** Returns the earliest time at which one of its recipients may be written to, apart from quiet hours. */
export function nextTryMs(batch: Batch): number {
  const { next, total, postponed, tryAtMs } = batch;
  const anyMs = next < total ? 0 : Math.min(...postponed.map((recipient) => recipient.tryAtMs));
  return batchOpensMs({ ...batch, quietHours: null }, Math.max(tryAtMs, anyMs));
}

/** Counts a message that changed its state with its batch. */
export function withMessageState(
  batches: readonly Batch[],
  { batchId }: BatchMember,
  { status, reason }: { readonly status: MessageStatus; readonly reason: MessageReason | null },
): readonly Batch[] {
  if (batchId === undefined || !isFinal(status)) return batches;
  return batches.map((batch) => {
    if (batch.id !== batchId) return batch;
    const { queued } = batch.counts;
    const counts = { ...batch.counts, queued: queued - 1, [status]: batch.counts[status] + 1 };
    return { ...batch, counts, codes: reason === null ? batch.codes : countCode(batch.codes, reason) };
  });
}

/** Returns the counts with one more of a code. */
export function countCode(codes: BatchRecord['codes'], code: string): BatchRecord['codes'] {
  return { ...codes, [code]: (codes[code] ?? 0) + 1 };
}
