/** Begins batches and adds their recipients. */
import { refuseFittingContent } from '../../../../policy/content-rules.ts';
import { quietHoursProblem } from '../../../../policy/quiet-hours.ts';
import { DAY_MS } from '../../../../runtime/durations.ts';
import { partsOf } from '../../../../runtime/parts.ts';
import type { Write } from '../../../../runtime/store.ts';
import { done, type Failed, type FieldProblem, failed, type Outcome, refusedBy } from '../../../failure.ts';
import type { BatchRequest, RefusedRecipient } from '../../batch-operations.ts';
import { NO_DRAFT, onlyContent } from '../../message-content.ts';
import type { CommandOf } from '../../protocol/shop-commands.ts';
import type { BatchReply, ShopReplies } from '../../protocol/shop-replies.ts';
import { keyField } from '../../records/shop-keys.ts';
import {
  type Batch,
  type BatchContent,
  type BatchRecord,
  batchKey,
  countCode,
  firstCallField,
  numberField,
} from '../../state/batches.ts';
import { pacingState } from '../../state/shop-state.ts';
import { fieldUses } from '../../texts/batch-text.ts';
import { stepPacing } from '../builder/step-machines.ts';
import type { TurnBuilder } from '../builder/turn-builder.ts';
import type { BatchFacts, FirstCall, KnownRecipient } from './batch-facts.ts';
import { batchProblems, MOST_PROBLEMS, recipientProblems } from './recipient-problems.ts';

/** Batches of one shop that have not ended. */
export const MOST_BATCHES = 20;
/** Recipients of one batch. */
const MOST_RECIPIENTS = 10_000;
/** How far ahead a batch may begin, and how long it may run. */
const FURTHEST_MS = 90 * DAY_MS;
const LONGEST_RUN_MS = 180 * DAY_MS;
const DEFAULT_RUN_MS = 90 * DAY_MS;
/** Most fields and values of one write, so that none is large. */
const FIELDS_A_WRITE = 200;

/** Stores a batch with its first recipients. */
export function createBatch(
  builder: TurnBuilder,
  { asked: request }: CommandOf<'create_batch'>,
  { original, digests = [], recipients = [] }: BatchFacts,
): ShopReplies['create_batch'] {
  const { state, nowMs } = builder;
  if (original !== undefined) return replayOf(original.id, original, digests);
  const { text, mediaUrl, requestId, traceparent, idempotencyKey, quietHours } = request;
  const refusal = refuseFittingContent(text, mediaUrl);
  if (refusal !== undefined) return refusedBy(refusal);
  const notBeforeMs = request.notBeforeMs ?? nowMs;
  const notAfterMs = request.notAfterMs ?? notBeforeMs + DEFAULT_RUN_MS;
  const problems = [
    ...timeProblems({ notBeforeMs: request.notBeforeMs, notAfterMs, nowMs }),
    ...quietProblems(quietHours),
    ...batchProblems(recipients, request),
  ];
  if (problems.length > 0) return invalid(problems);
  if (state.batches.length >= MOST_BATCHES) return failed('BATCH_LIMIT_REACHED');
  const content: BatchContent = { ...onlyContent(request), requestId, traceparent, digest: digests[0] };
  const emptyBatch: Batch = {
    id: builder.makeId(),
    name: request.name,
    status: request.paused ? 'paused' : 'waiting',
    createdAtMs: nowMs,
    startedAtMs: null,
    movedAtMs: nowMs,
    notBeforeMs,
    notAfterMs,
    quietHours: quietHours ?? null,
    share: request.share,
    total: 0,
    next: 0,
    postponed: [],
    left: { declared: 0, unheard: 0 },
    isFilled: text !== undefined && fieldUses(text).size > 0,
    counts: { queued: 0, sent: 0, failed: 0, rejected: 0, refused: 0, repeated: 0 },
    codes: {},
    watched: [],
    optedOut: [],
    rateSignalsMs: [],
    stop: null,
    idempotencyKey: idempotencyKey ?? null,
    tryAtMs: 0,
    requested: null,
  };
  const { batch, refused, writes } = withRecipients(builder, emptyBatch, recipients);
  const key = batchKey(state.keys, batch.id);
  builder.write(['HSET', key, 'content', JSON.stringify(content), 'refused:', JSON.stringify(refused)]);
  builder.write(...writes);
  if (idempotencyKey !== undefined)
    builder.write(['HSET', state.keys.batches, keyField(idempotencyKey), batch.id]);
  builder.change({ batches: [...state.batches, batch] });
  return done({ batchId: batch.id, isReplayed: false, differs: false, refused });
}

/** Returns the answer to the first call of the key. `digests`: those of the present call. */
function replayOf(
  batchId: string,
  { refused, digest }: FirstCall,
  digests: readonly string[],
): Outcome<BatchReply, never> {
  const differs = digest !== undefined && !digests.includes(digest);
  return done({ batchId, isReplayed: true, differs, refused });
}

/** Adds recipients to a batch that has not started. */
export function addRecipients(
  builder: TurnBuilder,
  { batchId, asked: request }: CommandOf<'add_recipients'>,
  { added, digests = [], content = NO_DRAFT, recipients = [], endedAs }: BatchFacts,
): ShopReplies['add_recipients'] {
  const { state } = builder;
  const batch = state.batches.find(({ id }) => id === batchId);
  if (added !== undefined) return replayOf(batchId, added, digests);
  if (batch === undefined) return failed(endedAs === undefined ? 'BATCH_NOT_FOUND' : 'BATCH_ENDED');
  if (batch.status === 'cancelled' || batch.status === 'expired') return failed('BATCH_ENDED');
  if (batch.startedAtMs !== null) return failed('BATCH_STARTED');
  const problems = recipientProblems(recipients, content);
  if (batch.total + recipients.length > MOST_RECIPIENTS)
    problems.push({ field: 'recipients', message: 'must not be more than 10,000 in all' });
  if (problems.length > 0) return invalid(problems);
  const { batch: changedBatch, refused, writes } = withRecipients(builder, batch, recipients);
  builder.write(...writes);
  if (request.idempotencyKey !== undefined) {
    const first: FirstCall = { refused, digest: digests[0] };
    const field = firstCallField(request.idempotencyKey);
    builder.write(['HSET', batchKey(state.keys, batchId), field, JSON.stringify(first)]);
  }
  changeBatch(builder, changedBatch);
  return done({ batchId, isReplayed: false, differs: false, refused });
}

/** Ends the messages of a batch that are not on the wire. */
export function endUnsent(builder: TurnBuilder, batchId: string, reason: 'CANCELLED' | 'EXPIRED'): void {
  const { currentMessage, queue } = builder.state;
  for (const message of queue) if (message.batchId === batchId) builder.endQueued(message, reason);
  if (currentMessage?.batchId !== batchId || pacingState(builder.state) === 'sending') return;
  stepPacing(builder, { type: 'blocked', reason });
}

/** Replaces a batch by its changed form. */
export function changeBatch(builder: TurnBuilder, changedBatch: Batch): void {
  builder.change({
    batches: builder.state.batches.map((batch) => (batch.id === changedBatch.id ? changedBatch : batch)),
  });
}

/** Returns the batch with those of the recipients who may be written to. */
function withRecipients(
  builder: TurnBuilder,
  batch: Batch,
  recipients: readonly KnownRecipient[],
): { readonly batch: Batch; readonly refused: readonly RefusedRecipient[]; readonly writes: Write[] } {
  const refused: RefusedRecipient[] = [];
  const fields: string[] = [];
  let codes: BatchRecord['codes'] = batch.codes;
  let { total } = batch;
  const leftOfClass = { ...batch.left };
  for (const { recipient, refusal, recipientClass } of recipients) {
    if (refusal !== undefined) {
      refused.push({ to: recipient.to, code: refusal });
      codes = countCode(codes, refusal);
      builder.perform({ type: 'count_recipients', outcome: 'refused', code: refusal, count: 1 });
      continue;
    }
    fields.push(`r:${total}`, JSON.stringify({ ...recipient, was: recipientClass }));
    fields.push(numberField(recipient.to), String(total));
    total += 1;
    if (recipientClass !== 'known') leftOfClass[recipientClass] += 1;
  }
  const key = batchKey(builder.state.keys, batch.id);
  const writes = [...partsOf(fields, FIELDS_A_WRITE)].map((part): Write => ['HSET', key, ...part]);
  const counts = { ...batch.counts, refused: batch.counts.refused + refused.length };
  return { batch: { ...batch, total, left: leftOfClass, counts, codes, tryAtMs: 0 }, refused, writes };
}

function timeProblems(times: {
  readonly notBeforeMs: number | undefined;
  readonly notAfterMs: number;
  readonly nowMs: number;
}): FieldProblem[] {
  const { notBeforeMs, notAfterMs, nowMs } = times;
  const fromMs = notBeforeMs ?? nowMs;
  if (fromMs > nowMs + FURTHEST_MS) return [{ field: 'notBefore', message: 'must be within 90 days' }];
  if (notAfterMs <= nowMs) return [{ field: 'notAfter', message: 'must be in the future' }];
  if (notAfterMs <= fromMs) return [{ field: 'notAfter', message: 'must be after notBefore' }];
  if (notAfterMs > Math.max(fromMs, nowMs) + LONGEST_RUN_MS)
    return [{ field: 'notAfter', message: 'must be within 180 days after notBefore' }];
  return [];
}

function quietProblems(quietHours: BatchRequest['quietHours']): FieldProblem[] {
  const problem = quietHours && quietHoursProblem(quietHours);
  return problem === undefined ? [] : [{ field: `quietHours.${problem.field}`, message: problem.message }];
}

function invalid(fields: readonly FieldProblem[]): Failed<'VALIDATION_ERROR'> {
  return failed('VALIDATION_ERROR', { fields: fields.slice(0, MOST_PROBLEMS) });
}
