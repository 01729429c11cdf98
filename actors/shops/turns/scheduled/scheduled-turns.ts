/**
 * The life of a scheduled send. It becomes a message at its time. When it is due it is sent like any other, and its end
 * is stored with the resulting message.
 */
import { refuseFittingContent } from '../../../../policy/content-rules.ts';
import { DAY_MS, HOUR_MS } from '../../../../runtime/durations.ts';
import { done, type Failed, type FailureCode, failed, type Outcome, refusedBy } from '../../../failure.ts';
import type { IdempotentReply } from '../../idempotent-reply.ts';
import { NO_LONGER_DUE, TRY_AGAIN_MS, tryAgainMs } from '../../judging/try-again-ms.ts';
import type { CommandOf } from '../../protocol/shop-commands.ts';
import type { DueReply, ShopReplies } from '../../protocol/shop-replies.ts';
import { type StoredSchedule, scheduledView } from '../../reading/schedule-reading.ts';
import type { AcceptedReply, ScheduledEnd, ScheduleRequest } from '../../shop-operations.ts';
import {
  endWrites,
  type ScheduledDraft,
  type ScheduledSend,
  scheduledWrites,
  withoutContent,
} from '../../state/scheduled-sends.ts';
import type { ShopState } from '../../state/shop-state.ts';
import type { TurnBuilder } from '../builder/turn-builder.ts';
import { type AcceptanceOptions, acceptMessage } from '../send/accept-message.ts';
import type { SendTurnFacts } from '../send/send-facts.ts';
import type { ScheduledFacts } from './scheduled-facts.ts';

/** Sends that one shop may have waiting. */
export const MOST_SCHEDULED = 1_000;
/** How far ahead a send may be scheduled. */
const FURTHEST_MS = 90 * DAY_MS;
/** How long after its time it is attempted, by default and at most. */
const DEFAULT_LATEST_MS = HOUR_MS;
const LATEST_MS = 7 * DAY_MS;
/** The most attempts in one turn; the others follow at once. */
const AT_A_TIME = 16;

/** Stores a send for later. */
export function schedule(
  builder: TurnBuilder,
  { draft: request }: CommandOf<'schedule'>,
  { schedule: original, contentDigests = [] }: ScheduledFacts,
): ShopReplies['schedule'] {
  const { state, nowMs } = builder;
  const { shopId } = state.shop;
  if (original !== undefined) {
    const differs = differsFrom(original.draft, request, contentDigests);
    return done({ isReplayed: true, differs, accepted: scheduledView(shopId, original) });
  }
  const refusal = refuseFittingContent(request.text, request.mediaUrl);
  if (refusal !== undefined) return refusedBy(refusal);
  const { sendAtMs, notAfterMs = sendAtMs + DEFAULT_LATEST_MS, ...draftFields } = request;
  const problem = timeProblem({ sendAtMs, notAfterMs, nowMs });
  if (problem !== undefined) return failed('VALIDATION_ERROR', { fields: [problem] });
  if (state.scheduled.length >= MOST_SCHEDULED) return failed('SCHEDULED_LIMIT_REACHED');
  const id = builder.makeId();
  const [contentDigest] = contentDigests;
  const draft: ScheduledDraft = {
    ...draftFields,
    sendAtMs,
    notAfterMs,
    createdAtMs: nowMs,
    ...(contentDigest === undefined ? {} : { contentDigest }),
  };
  builder.write(...scheduledWrites(state.keys, id, draft));
  builder.change({ scheduled: [...state.scheduled, { id, sendAtMs, notAfterMs, tryAtMs: sendAtMs }] });
  const acceptedView = scheduledView(shopId, { id, draft, end: undefined });
  return done({ isReplayed: false, differs: false, accepted: acceptedView });
}

/** Ends one that waits; one that was cancelled stays as it is. */
export function unschedule(
  builder: TurnBuilder,
  _command: unknown,
  { schedule: storedSchedule }: ScheduledFacts,
): ShopReplies['unschedule'] {
  if (storedSchedule === undefined) return failed('SCHEDULED_NOT_FOUND');
  const { shopId } = builder.state.shop;
  if (storedSchedule.end?.status === 'cancelled') return done(scheduledView(shopId, storedSchedule));
  if (storedSchedule.end !== undefined) return failed('NOT_CANCELLABLE');
  const end: ScheduledEnd = { status: 'cancelled' };
  endOne(builder, storedSchedule, end);
  return done(scheduledView(shopId, { ...storedSchedule, draft: withoutContent(storedSchedule.draft), end }));
}

/** When the next one falls due. */
export function scheduledDueAtMs({ scheduled }: Pick<ShopState, 'scheduled'>): number | undefined {
  return scheduled.length === 0 ? undefined : Math.min(...scheduled.map(({ tryAtMs }) => tryAtMs));
}

/** Starts the due sends. The time of the next attempt is not stored, so this writes nothing. */
export function trySchedules(builder: TurnBuilder): void {
  const { state, nowMs } = builder;
  if (!state.isDispatching) return;
  let dueCount = 0;
  const scheduled = state.scheduled.map((scheduledSend) => {
    if (scheduledSend.tryAtMs > nowMs) return scheduledSend;
    dueCount += 1;
    // A moment that stays the same is not delivered again.
    if (dueCount > AT_A_TIME) return { ...scheduledSend, tryAtMs: nowMs + 1 };
    builder.perform({ type: 'send_scheduled', scheduledId: scheduledSend.id });
    return { ...scheduledSend, tryAtMs: nowMs + TRY_AGAIN_MS };
  });
  builder.change({ scheduled });
}

/** Makes a due send, and stores its end with the message. A repeated reply decides nothing. */
export function sendScheduled(
  builder: TurnBuilder,
  command: CommandOf<'send'>,
  facts: ScheduledFacts & SendTurnFacts,
  options: AcceptanceOptions,
): DueReply {
  const { scheduledId = '' } = command.draft;
  const obstacle = scheduledObstacle(builder, scheduledId);
  const reply = obstacle ?? acceptMessage(builder, command, facts, options);
  if ('ask' in reply) {
    // If no shop of the pool is free, no other turn of this attempt follows.
    if (reply.ask === 'pool' && !reply.ok) noteCode(builder, scheduledId, reply.failure.code);
    return reply;
  }
  onScheduledSend(builder, facts.schedule, reply);
  return reply;
}

/** Returns the reason why a due send cannot be made, independent of the policy. Undefined if it can. */
function scheduledObstacle({ state, nowMs }: TurnBuilder, scheduledId: string): Failed | undefined {
  const scheduledSend = state.scheduled.find(({ id }) => id === scheduledId);
  if (scheduledSend === undefined) return NO_LONGER_DUE;
  // No attempt was made in time, or none was possible.
  if (nowMs > scheduledSend.notAfterMs) return failed(scheduledSend.lastCode ?? 'SERVICE_UNAVAILABLE');
  return state.isTenantActive ? undefined : failed('TENANT_INACTIVE');
}

/** Notes the code of an attempt, which is its last one if none follows. */
function noteCode(builder: TurnBuilder, scheduledId: string, lastCode: FailureCode): void {
  const scheduledSend = builder.state.scheduled.find(({ id }) => id === scheduledId);
  if (scheduledSend !== undefined) change(builder, { ...scheduledSend, lastCode });
}

/** Handles the result of its send: it ends with its message, is retried, or ends refused. */
function onScheduledSend(
  builder: TurnBuilder,
  storedSchedule: StoredSchedule | undefined,
  reply: Outcome<IdempotentReply<AcceptedReply>>,
): void {
  const scheduledSend = builder.state.scheduled.find(({ id }) => id === storedSchedule?.id);
  if (scheduledSend === undefined || storedSchedule === undefined) return;
  if (reply.ok) {
    const messageId = reply.value.accepted.id;
    builder.perform({ type: 'count_scheduled', code: null });
    endOne(builder, storedSchedule, { status: 'accepted', messageId });
    builder.publish('scheduled.accepted', { id: scheduledSend.id, messageId });
    return;
  }
  const { code } = reply.failure;
  const againMs = tryAgainMs(reply.failure);
  if (againMs !== undefined && builder.nowMs + againMs <= scheduledSend.notAfterMs) {
    change(builder, { ...scheduledSend, tryAtMs: builder.nowMs + againMs, lastCode: code });
    return;
  }
  builder.perform({ type: 'count_scheduled', code });
  endOne(builder, storedSchedule, { status: 'refused', code });
  builder.publish('scheduled.refused', { id: scheduledSend.id, code });
}

function endOne(builder: TurnBuilder, { id, draft }: StoredSchedule, end: ScheduledEnd): void {
  const { state } = builder;
  builder.write(...endWrites(state.keys, { id, draft, end }, builder));
  builder.change({ scheduled: state.scheduled.filter((scheduledSend) => scheduledSend.id !== id) });
}

function change(builder: TurnBuilder, changedSend: ScheduledSend): void {
  builder.change({
    scheduled: builder.state.scheduled.map((scheduledSend) =>
      scheduledSend.id === changedSend.id ? changedSend : scheduledSend,
    ),
  });
}

function timeProblem(times: {
  readonly sendAtMs: number;
  readonly notAfterMs: number;
  readonly nowMs: number;
}): { readonly field: string; readonly message: string } | undefined {
  const { sendAtMs, notAfterMs, nowMs } = times;
  if (sendAtMs <= nowMs) return { field: 'sendAt', message: 'must be in the future' };
  if (sendAtMs > nowMs + FURTHEST_MS) return { field: 'sendAt', message: 'must be within 90 days' };
  if (notAfterMs < sendAtMs) return { field: 'notAfter', message: 'must not be before sendAt' };
  if (notAfterMs > sendAtMs + LATEST_MS)
    return { field: 'notAfter', message: 'must be within 7 days after sendAt' };
  return undefined;
}

/** True if a call requests something else than the original of its idempotency key, even if that has ended. */
function differsFrom(
  original: ScheduledDraft,
  { to, sendAtMs, notAfterMs = sendAtMs + DEFAULT_LATEST_MS }: ScheduleRequest,
  contentDigests: readonly string[],
): boolean {
  const { contentDigest } = original;
  if (original.sendAtMs !== sendAtMs || original.notAfterMs !== notAfterMs) return true;
  // 0.2.0 stored no digest.
  return contentDigest === undefined ? original.to !== to : !contentDigests.includes(contentDigest);
}
