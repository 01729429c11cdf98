import { recipientKey } from '../../../../policy/number-forms.ts';
import { type Failed, type FailureCode, failed } from '../../../failure.ts';
import type { BatchRefusal } from '../../batch-operations.ts';
import { classOf, judgeSend } from '../../judging/judge-send.ts';
import { NO_LONGER_DUE, tryAgainMs } from '../../judging/try-again-ms.ts';
import type { CommandOf } from '../../protocol/shop-commands.ts';
import type { DueReply } from '../../protocol/shop-replies.ts';
import type { BatchPlace } from '../../shop-operations.ts';
import { type Batch, countCode, WATCHED } from '../../state/batches.ts';
import type { TurnBuilder } from '../builder/turn-builder.ts';
import { type AcceptanceOptions, acceptMessage } from '../send/accept-message.ts';
import type { SendTurnFacts } from '../send/send-facts.ts';
import { batchDueFor, concernsRecipient, postpone, requestAgain, storeResult } from './batch-progress.ts';
import { changeBatch } from './batch-turns.ts';

/** The reply to the send to a cold recipient. No caller gets it: the batch stores `COLD_RECIPIENT`. */
const COLD = failed('CONFLICT', { message: 'A batch sends to no cold recipient.' });

/**
 * Makes the send to a recipient of a batch, and stores its result with the batch's progress. It must pass the policy
 * with the batch's share of each cap. After that it is judged and accepted like any other send.
 */
export function sendBatched(
  builder: TurnBuilder,
  command: CommandOf<'send'>,
  facts: SendTurnFacts,
  options: AcceptanceOptions,
): DueReply {
  const { batch: recipientPlace } = command.draft;
  if (recipientPlace === undefined) throw new Error('a send of a batch came to its turn without its place');
  const batch = batchDueFor(builder, recipientPlace);
  if (batch === undefined) {
    requestAgain(builder, recipientPlace);
    return NO_LONGER_DUE;
  }
  const { draft, settings } = command;
  const { nowMs, state } = builder;
  const sendToJudge = { draft, settings, recipient: facts.send, hasWorker: facts.hasWorker, nowMs };
  if (facts.send.original === undefined) {
    if (classOf(state, sendToJudge) === 'cold') {
      refuse(builder, batch, recipientPlace, 'COLD_RECIPIENT');
      return COLD;
    }
    const judgement = judgeSend(state, { ...sendToJudge, share: batch.share });
    if (!judgement.ok) return keepBack(builder, batch, recipientPlace, judgement);
    if (judgement.value.unavailable !== undefined)
      return keepBack(builder, batch, recipientPlace, failed(judgement.value.unavailable));
  }
  const reply = acceptMessage(builder, command, facts, options);
  if (!reply.ok) return keepBack(builder, batch, recipientPlace, reply);
  const { accepted, isReplayed } = reply.value;
  const { counts } = batch;
  const person = recipientKey(facts.send.alias ?? draft.to);
  changeBatch(builder, {
    ...storeResult(builder, batch, recipientPlace, accepted.id),
    status: 'running',
    startedAtMs: batch.startedAtMs ?? nowMs,
    counts: isReplayed
      ? { ...counts, repeated: counts.repeated + 1 }
      : { ...counts, queued: counts.queued + 1 },
    ...watching(batch, person),
  });
  if (batch.startedAtMs === null) {
    builder.publish('batch.started', { id: batch.id });
    builder.perform({ type: 'count_batch', change: 'started', reason: null });
  }
  if (isReplayed) builder.perform({ type: 'count_recipients', outcome: 'repeated', code: null, count: 1 });
  return reply;
}

/** The last recipients, who are watched for opt-outs. */
function watching(batch: Batch, person: number): Pick<Batch, 'watched' | 'optedOut'> {
  const watched = [...batch.watched, person].slice(-WATCHED);
  return { watched, optedOut: batch.optedOut.filter((optedOutPerson) => watched.includes(optedOutPerson)) };
}

/**
 * Waits as long as the refusal names, or a default time if it may end soon. Any other refusal is final for the
 * recipient.
 */
function keepBack(builder: TurnBuilder, batch: Batch, recipientPlace: BatchPlace, refusal: Failed): Failed {
  const { code } = refusal.failure;
  const waitMs = tryAgainMs(refusal.failure);
  if (waitMs === undefined) {
    refuse(builder, batch, recipientPlace, code);
    return refusal;
  }
  const tryAtMs = builder.nowMs + Math.max(waitMs, 1_000);
  const waits = concernsRecipient(code, batch)
    ? postpone(batch, recipientPlace.place, tryAtMs)
    : { ...batch, requested: null, tryAtMs };
  changeBatch(builder, waits);
  return refusal;
}

/** Stores why the recipient gets no message. */
function refuse(
  builder: TurnBuilder,
  batch: Batch,
  recipientPlace: BatchPlace,
  code: FailureCode | BatchRefusal,
): void {
  const { counts, codes } = batch;
  changeBatch(builder, {
    ...storeResult(builder, batch, recipientPlace, code),
    counts: { ...counts, refused: counts.refused + 1 },
    codes: countCode(codes, code),
  });
  builder.perform({ type: 'count_recipients', outcome: 'refused', code, count: 1 });
}
