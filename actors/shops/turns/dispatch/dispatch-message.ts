import { classCapCode } from '../../../../policy/network-limits.ts';
import { isGroupId, isPerson, isPhoneNumber } from '../../../../policy/recipient.ts';
import { MINUTE_MS } from '../../../../runtime/durations.ts';
import type { MessageReason } from '../../../message-status.ts';
import type { SessionEventOf } from '../../../sessions/session-events.ts';
import { barsNewChat, countsAsNewChat } from '../../judging/new-chats.ts';
import type { CommandOf } from '../../protocol/shop-commands.ts';
import { dayOf } from '../../records/message-days.ts';
import type { MessageBody } from '../../records/message-record.ts';
import { sentExpiry, sentWrite } from '../../records/sent-index.ts';
import { batchObstacle } from '../../state/batch-holds.ts';
import { addressee, isPreparing, liveGroups, pacingState, type ShopState } from '../../state/shop-state.ts';
import { oncePerDay } from '../builder/once-per-day.ts';
import { stepPacing } from '../builder/step-machines.ts';
import type { TurnBuilder } from '../builder/turn-builder.ts';
import { isOverRecipientLimits } from '../people/recipient-alias.ts';
import { linkLid } from '../people/stored-writer.ts';
import { rememberCarried } from '../pool/opt-out-notices.ts';
import type { DispatchFacts, FactsInProgress } from './dispatch-facts.ts';

/**
 * How long the network may take to acknowledge a stanza before the outcome counts as unknown. It is twice the time for
 * which Redis may be unreachable. A stanza waits until its ratchet is stored, and a session that seems to hang loses
 * its socket.
 */
const ACKNOWLEDGE_DEADLINE_MS = MINUTE_MS;

/** How long a shop waits at least for the outcome of a message on the wire: longer than the session does. */
export const OUTCOME_LEAST_MS = 2 * ACKNOWLEDGE_DEADLINE_MS;

/** The reason for a message whose record expired while it waited. */
const GONE: MessageReason = 'EXPIRED';

/** The facts that a check uses. */
interface CheckFacts extends DispatchFacts {
  /** Set once the session prepared the message. `hasChat`: see `session.prepared`. */
  readonly prepared?: { readonly hasChat: boolean | undefined };
}

/**
 * Returns the reason why a message may not go on the wire, just before it does. Undefined if it may (docs/contract.md,
 * Before the wire).
 */
function obstacle(
  state: ShopState,
  body: MessageBody,
  { writer, audience, isWithdrawn, hasLapsed, prepared, nowMs }: CheckFacts & { readonly nowMs: number },
): MessageReason | undefined {
  const recipient = body.to ?? '';
  if (isWithdrawn || (isPerson(recipient) && writer?.optedOut)) return 'RECIPIENT_OPTED_OUT';
  if (isOverRecipientLimits(state, writer, nowMs)) return 'RECIPIENT_RATE_LIMITED';
  // The declaration ended after the acceptance, so the recipient is cold now. The send was counted with the declared
  // ones, and the budget of cold recipients was not asked.
  if (hasLapsed) return 'COLD_RECIPIENT_CAP_REACHED';
  // The session must first look up whether it has a token of this recipient.
  if (prepared !== undefined && barsNewChat(state, { to: recipient, ...prepared, writer }, nowMs))
    return classCapCode(body.policy?.recipientClass);
  if (isGroupId(recipient) && !liveGroups(state)?.find(({ id }) => id === recipient)?.isAdmin)
    return 'GROUP_NOT_ADMINISTERED';
  if (body.kind === 'status' && audience.length === 0) return 'STATUS_NO_AUDIENCE';
  return undefined;
}

/** Moves a recipient's data to their number, if it is stored under the network's own id of them. */
function linkRecipient(builder: TurnBuilder, { lidToLink, writer }: DispatchFacts): void {
  const { currentMessage } = builder.state;
  if (currentMessage === undefined || lidToLink === undefined) return;
  const writtenBy = addressee(currentMessage);
  if (isPhoneNumber(writtenBy)) linkLid(builder, lidToLink, { writtenBy, writer });
}

/** Checks the current message, and returns its body if it may go on. Otherwise puts it back or ends it. */
function checkCurrent(builder: TurnBuilder, facts: CheckFacts): MessageBody | undefined {
  const { body } = facts;
  const { batches, currentMessage } = builder.state;
  const batchReason = batchObstacle(batches, currentMessage, builder.nowMs);
  if (batchReason === 'wait') {
    // Other messages of the queue pass it.
    stepPacing(builder, { type: 'put_back' });
    return undefined;
  }
  const reason =
    body === undefined
      ? GONE
      : (batchReason ?? obstacle(builder.state, body, { ...facts, nowMs: builder.nowMs }));
  if (reason === undefined) return body;
  stepPacing(builder, { type: 'blocked', reason });
  return undefined;
}

/**
 * Checks the current message before anything is done for it, and orders the session to prepare it. Since the command,
 * the message may have been put back and started again. The check then counts for the new attempt.
 */
export function onFirstLook(
  builder: TurnBuilder,
  { messageId }: CommandOf<'first_look'>,
  { dispatch: facts }: FactsInProgress,
): void {
  const isNext = isPreparing(builder.state, messageId) && builder.state.currentBody === undefined;
  if (!isNext || facts === undefined) return;
  const body = checkCurrent(builder, facts);
  if (body === undefined) return;
  const { to = '', alias } = builder.state.currentMessage ?? {};
  const needsChat = barsNewChat(builder.state, { to, writer: facts.writer }, builder.nowMs);
  builder.change({ currentBody: body });
  builder.perform({
    type: 'prepare',
    order: {
      messageId: body.id,
      wireId: body.wireId,
      kind: body.kind,
      // A reply that was accepted before the network named the number goes to the number.
      to: isPhoneNumber(to) ? to : (alias ?? to),
      knownAs: alias,
      text: body.text ?? undefined,
      mediaUrl: body.mediaUrl ?? undefined,
      mediaType: body.mediaType ?? undefined,
      audience: body.kind === 'status' ? facts.audience : undefined,
      optedOutIds: facts.optedOutIds,
      deadlineMs: ACKNOWLEDGE_DEADLINE_MS,
      quoted: facts.quoted,
      needsChat,
    },
    traceparent: body.traceparent ?? undefined,
  });
}

/**
 * True if the session was ordered to prepare that message in its present attempt. The order sets the message's body,
 * and the end of an attempt removes it. A report without a body is about an earlier attempt, which was recalled.
 */
function isOrdered(state: ShopState, messageId: string): boolean {
  return isPreparing(state, messageId) && state.currentBody !== undefined;
}

/** The order needed a chat, and the session found none. */
export function onNoChat(builder: TurnBuilder, messageId: string): void {
  if (!isOrdered(builder.state, messageId)) return;
  const { currentBody } = builder.state;
  stepPacing(builder, { type: 'blocked', reason: classCapCode(currentBody?.policy?.recipientClass) });
}

/** The session sealed a message, for the first time or to send it again. */
export function onPrepared(
  builder: TurnBuilder,
  event: SessionEventOf<'session.prepared'>,
  { dispatch }: FactsInProgress,
): void {
  const { state } = builder;
  const { messageId } = event;
  if (pacingState(state) === 'sending' && state.currentMessage?.messageId === messageId)
    repeat(builder, event, dispatch);
  else if (isOrdered(state, messageId) && dispatch !== undefined) putOnWire(builder, event, dispatch);
}

/**
 * The last check before the wire. One commit has `sending` and the steps of the ratchets that sealed the message, and
 * the frame leaves after it. If the process is killed before, the message is queued and no one has its ciphertexts.
 */
function putOnWire(
  builder: TurnBuilder,
  { messageId, writes, lid, hasChat }: SessionEventOf<'session.prepared'>,
  facts: DispatchFacts,
): void {
  linkRecipient(builder, facts);
  const body = checkCurrent(builder, { ...facts, prepared: { hasChat } });
  if (body === undefined) return;
  const isFirst = countsAsNewChat(body.to ?? '', { hasChat, writer: facts.writer });
  const untilMs = builder.nowMs + builder.options.times.outcomeMs;
  const onWire = { type: 'prepared', untilMs } as const;
  stepPacing(builder, isFirst ? { ...onWire, startsChat: true } : onWire);
  builder.write(...writes);
  rememberCarried(builder, lid);
  indexStanza(builder, body, lid);
  builder.perform({ type: 'transmit', messageId });
}

/**
 * The check before a transmitted message is sent again. A batch that was cancelled or paused does not matter, since
 * its message is on its way. If the message may not be repeated, the session reports its outcome.
 */
function repeat(
  builder: TurnBuilder,
  { messageId, hasChat }: SessionEventOf<'session.prepared'>,
  facts: DispatchFacts | undefined,
): void {
  if (facts !== undefined) linkRecipient(builder, facts);
  const { nowMs, state } = builder;
  const isAllowed =
    facts?.body !== undefined &&
    obstacle(state, facts.body, { ...facts, prepared: { hasChat }, nowMs }) === undefined;
  builder.perform({ type: isAllowed ? 'transmit' : 'do_not_repeat', messageId });
}

/** Indexes receipts by wire id. Messages carried for another shop and statuses have no entry. */
function indexStanza(builder: TurnBuilder, { id, wireId, kind }: MessageBody, lid: string | undefined): void {
  const { nowMs, state } = builder;
  const { currentMessage, keys } = state;
  if (currentMessage === undefined || currentMessage.carriedFor !== undefined || kind === 'status') return;
  const sentStanza = { messageId: id, atMs: nowMs, to: addressee(currentMessage), lid: lid ?? '' };
  builder.write(sentWrite(keys, wireId, sentStanza));
  const day = dayOf(nowMs);
  if (oncePerDay(builder, 'indexedDay', day)) builder.write(sentExpiry(keys, day));
}
