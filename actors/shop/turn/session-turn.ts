import { isGroupId, isPhoneNumber } from '../../../policy/recipient.ts';
import type { MessageReason } from '../../message-status.ts';
import type { SessionEnd, SessionEvent } from '../../session/session-host.ts';
import { tenantKeys } from '../../tenant/tenant-keys.ts';
import { dayOf } from '../record/message-days.ts';
import type { MessageBody } from '../record/message-record.ts';
import { sentExpiry, sentWrite } from '../record/sent-index.ts';
import { addressee, channelState, liveGroups, pacingState, type ShopState } from '../record/shop-state.ts';
import { afterInbound } from '../record/writer.ts';
import type { NumberFacts } from './number-facts.ts';
import { heedOptOut, rememberCarried, startNotices, tellOfOptOut } from './opt-out-notices.ts';
import { onReceipts } from './receipt-turn.ts';
import { isOverRecipientLimits, learnRecipient, linkLid } from './recipient-alias.ts';
import type { DispatchFacts, ShopFacts } from './shop-facts.ts';
import { takeNumber } from './take-number.ts';
import type { PacingTimes, TurnBuilder } from './turn-builder.ts';

/**
 * How long the network may take to acknowledge a stanza before the outcome counts as unknown. Twice as long as Redis
 * may be away: a stanza waits for its ratchet to be stored, and a session that seems to hang loses its socket.
 */
const ACKNOWLEDGE_DEADLINE_MS = 60_000;

/** What an event of the shop's newest session changes. */
type LiveEvent = Exclude<
  SessionEvent,
  {
    type:
      | 'session.inbound'
      | 'session.receipts'
      | 'session.send_outcome'
      | 'session.unreachable'
      | 'session.reachable';
  }
>;

/** The turn on an event of a session. */
export function onSessionEvent(
  builder: TurnBuilder,
  event: SessionEvent,
  facts: ShopFacts,
  times: Pick<PacingTimes, 'outcomeMs'>,
): void {
  switch (event.type) {
    // Inbound messages and outcomes count, whichever session they come from.
    case 'session.inbound':
      onInbound(builder, event, facts);
      break;
    case 'session.receipts':
      onReceipts(builder, facts.receipts ?? []);
      builder.perform({ type: 'confirm', token: event.token });
      break;
    case 'session.send_outcome':
      if (builder.state.inHand?.messageId === event.messageId) {
        builder.stepPacing({ type: 'outcome', outcome: event.outcome, ...builder.moments() });
      }
      break;
    case 'session.unreachable':
      builder.endAllQueued('BOT_SERVICE_UNREACHABLE');
      break;
    case 'session.reachable':
      break;
    default:
      if (event.generation === builder.state.channel.context.generation)
        onLiveEvent(builder, event, facts, times);
  }
}

function onLiveEvent(
  builder: TurnBuilder,
  event: LiveEvent,
  facts: ShopFacts,
  times: Pick<PacingTimes, 'outcomeMs'>,
): void {
  switch (event.type) {
    case 'session.qr':
      builder.stepChannel({ type: 'qr' });
      if (channelState(builder.state) === 'qr_waiting') {
        builder.change({ qr: { text: event.qr, expiresAtMs: event.expiresAtMs } });
      }
      break;
    case 'session.pairing_code':
      builder.stepChannel({ type: 'code' });
      if (channelState(builder.state) === 'code_waiting') {
        builder.change({ pairingCode: { text: event.code, expiresAtMs: event.expiresAtMs } });
      }
      break;
    case 'session.connected':
      onConnected(builder, event, facts.number ?? {});
      break;
    case 'session.closed':
      onClosed(builder, event);
      break;
    case 'session.worker_lost':
      onClosed(builder, { end: 'transient', statusCode: undefined, detail: event.detail });
      break;
    case 'session.groups':
      builder.change({ groups: { generation: event.generation, list: event.groups } });
      builder.perform({ type: 'groups_told' });
      break;
    case 'session.recipient_checked':
      if (builder.state.inHand?.messageId !== event.messageId) break;
      learnRecipient(builder, event, facts.alias);
      builder.stepPacing({
        type: 'checked',
        exists: event.exists,
        rateLimited: event.rateLimited,
        ...builder.moments(),
      });
      break;
    case 'session.composed':
      // A report of an earlier try may come when the message is in hand once more, or on the wire already.
      if (standsIn('composing', builder.state, event.messageId) && facts.dispatch) {
        onComposed(builder, event.messageId, facts.dispatch, times.outcomeMs);
      }
      break;
    case 'session.prepared':
      // It may have been blocked meanwhile, or put back: then what was prepared is recalled.
      if (standsIn('preparing', builder.state, event.messageId) && facts.dispatch) {
        onPrepared(builder, event, facts.dispatch, times.outcomeMs);
      }
      break;
  }
}

function standsIn(stage: 'composing' | 'preparing', state: ShopState, messageId: string): boolean {
  return state.inHand?.messageId === messageId && pacingState(state) === stage;
}

function onClosed(
  builder: TurnBuilder,
  closed: { readonly end: SessionEnd; readonly statusCode: number | undefined; readonly detail: string },
): void {
  const { end, statusCode, detail } = closed;
  builder.stepChannel({
    type: 'closed',
    end,
    statusCode,
    detail,
    nowMs: builder.nowMs,
    chance: builder.chance(),
  });
}

function onInbound(
  builder: TurnBuilder,
  event: Extract<SessionEvent, { type: 'session.inbound' }>,
  facts: ShopFacts,
): void {
  const writer = afterInbound(facts.writer, event, builder.nowMs);
  if (writer !== undefined) {
    const writtenBy = facts.writtenBy ?? event.from;
    builder.write(['HSET', builder.state.keys.writers, writtenBy, JSON.stringify(writer)]);
    const was = facts.writer?.optedOut ?? false;
    tellOfOptOut(builder, { writtenBy, was, is: writer.optedOut });
    if (writer.optedOut) {
      heedOptOut(builder, { writtenBy, was });
      startNotices(builder, { ...event, from: writtenBy }, facts.carriedFor ?? []);
    }
  }
  builder.perform({ type: 'confirm', token: event.token });
}

/**
 * Channel state with phone, the shop's status, whose the number is and the owner's number go into one commit
 * (docs/contract.md, Channel states).
 */
function onConnected(
  builder: TurnBuilder,
  event: Extract<SessionEvent, { type: 'session.connected' }>,
  number: NumberFacts,
): void {
  if (!takeNumber(builder, event, number)) return;
  const { phone } = event;
  const { ownerNumber } = tenantKeys(builder.state.shop.tenantId);
  builder.write(['SET', ownerNumber, `+${phone}`, 'NX']);
  builder.perform({ type: 'owner_number', phone: `+${phone}` });
}

/** Ends a message whose record expired while it waited. */
const GONE: MessageReason = 'EXPIRED';

/**
 * Why a message may not go on the wire, asked just before it; undefined: it may (docs/contract.md, Before the
 * wire).
 */
function obstacle(
  state: ShopState,
  body: MessageBody,
  { writer, audience, withdrawn, lapsed, nowMs }: DispatchFacts & { readonly nowMs: number },
): MessageReason | undefined {
  const to = body.to ?? '';
  if (withdrawn || (isPhoneNumber(to) && writer?.optedOut)) return 'RECIPIENT_OPTED_OUT';
  if (isOverRecipientLimits(state, writer, nowMs)) {
    return 'RECIPIENT_RATE_LIMITED';
  }
  // Its place is one of the declared, and neither budget spills into the other.
  if (lapsed || barsStranger(state, body, writer, nowMs)) {
    return 'COLD_RECIPIENT_CAP_REACHED';
  }
  if (isGroupId(to) && !liveGroups(state)?.find(({ id }) => id === to)?.isAdmin) {
    return 'GROUP_NOT_ADMINISTERED';
  }
  if (body.kind === 'status' && audience.length === 0) return 'STATUS_NO_AUDIENCE';
  return undefined;
}

/**
 * The network wants no message to strangers now, and this is one: accepted as cold, or carried for another
 * shop, whose customers are strangers to this number, and they have not written to it since.
 */
function barsStranger(
  { pacing, inHand }: Pick<ShopState, 'pacing' | 'inHand'>,
  { policy }: MessageBody,
  writer: DispatchFacts['writer'],
  nowMs: number,
): boolean {
  const barred = (pacing.context.coldPausedUntilMs ?? 0) > nowMs;
  const isStranger = inHand?.carriedFor !== undefined || policy?.recipientClass === 'cold';
  return barred && isStranger && writer === undefined;
}

/** The order to send; undefined when there is a reason against it, with which the message then ends. */
function unblocked(builder: TurnBuilder, facts: DispatchFacts): MessageBody | undefined {
  const { body } = facts;
  if (facts.wroteByLid !== undefined) linkLid(builder, facts.wroteByLid, facts.writer);
  const against =
    body === undefined ? GONE : obstacle(builder.state, body, { ...facts, nowMs: builder.nowMs });
  if (body === undefined || against !== undefined) {
    builder.stepPacing({ type: 'blocked', reason: against ?? GONE });
    return undefined;
  }
  return body;
}

/** Checks the message before it is prepared for the wire. */
function onComposed(builder: TurnBuilder, messageId: string, facts: DispatchFacts, outcomeMs: number): void {
  const body = unblocked(builder, facts);
  if (body === undefined) return;
  const { inHand } = builder.state;
  builder.change({ bodyInHand: body });
  builder.stepPacing({ type: 'composed', untilMs: builder.nowMs + outcomeMs });
  builder.perform({
    type: 'send',
    order: {
      messageId,
      wireId: body.wireId,
      kind: body.kind,
      to: inHand === undefined ? (body.to ?? '') : addressee(inHand),
      text: body.text ?? undefined,
      mediaUrl: body.mediaUrl ?? undefined,
      mediaType: body.mediaType ?? undefined,
      audience: body.kind === 'status' ? facts.audience : undefined,
      deadlineMs: ACKNOWLEDGE_DEADLINE_MS,
    },
    traceparent: body.traceparent ?? undefined,
  });
}

/**
 * The last look before the wire. `sending` and the steps of the ratchets that sealed the message are one commit, and the
 * frame leaves after it: when the process is killed before, the message is queued and nobody has its ciphertexts.
 */
function onPrepared(
  builder: TurnBuilder,
  { messageId, writes, lid }: Extract<SessionEvent, { type: 'session.prepared' }>,
  facts: DispatchFacts,
  outcomeMs: number,
): void {
  const body = unblocked(builder, facts);
  if (body === undefined) return;
  builder.stepPacing({ type: 'prepared', untilMs: builder.nowMs + outcomeMs });
  builder.write(...writes);
  rememberCarried(builder, lid);
  indexStanza(builder, body, lid);
  builder.perform({ type: 'release', messageId });
}

/** So that receipts find the message. What is carried for the pool has its record elsewhere, and a status no recipient. */
function indexStanza(builder: TurnBuilder, { id, wireId, kind }: MessageBody, lid: string | undefined): void {
  const { nowMs, state } = builder;
  const { inHand, keys, accepted } = state;
  if (inHand === undefined || inHand.carriedFor !== undefined || kind === 'status') return;
  const sent = { messageId: id, atMs: nowMs, to: addressee(inHand), lid: lid ?? '' };
  builder.write(sentWrite(keys, wireId, sent));
  const day = dayOf(nowMs);
  if (accepted.indexedDay === day) return;
  builder.write(sentExpiry(keys, day));
  builder.onCommitted(() => {
    accepted.indexedDay = day;
  });
}
