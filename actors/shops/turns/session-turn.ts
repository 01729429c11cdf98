import type { SessionEvent, SessionEventOf } from '../../sessions/session-events.ts';
import { tenantKeys } from '../../tenants/tenant-keys.ts';
import type { PacingTimes } from '../machines/pacing-times.ts';
import type { NumberVault } from '../records/number-vault.ts';
import { channelState, isPreparing, pacingState, type ShopState } from '../state/shop-state.ts';
import { stopBatchesOfNumber } from './batches/stop-batch.ts';
import type { TurnBuilder } from './builder/turn-builder.ts';
import { onNoChat, onPrepared, onRepeat } from './dispatch/dispatch-message.ts';
import { onReceipts } from './dispatch/receipt-turn.ts';
import { onInbound } from './inbound/inbound-turn.ts';
import type { NumberFacts } from './number/number-facts.ts';
import { noteRefusal, storeReportedLimits } from './number/reported-limits.ts';
import { takeNumber } from './number/take-number.ts';
import { learnRecipient } from './people/recipient-alias.ts';
import { requireFact, type ShopFacts } from './shop-facts.ts';

/** The events of the shop's newest session that change its state. */
type LiveEvent = Exclude<
  SessionEvent,
  {
    type: 'session.inbound' | 'session.receipts' | 'session.send_outcome' | 'session.unreachable';
  }
>;

export function onSessionEvent(
  builder: TurnBuilder,
  event: SessionEvent,
  facts: ShopFacts,
  { times, vault }: { readonly times: Pick<PacingTimes, 'outcomeMs'>; readonly vault: NumberVault },
): void {
  const before = builder.state;
  switch (event.type) {
    // Inbound messages and outcomes count, from whatever session they come.
    case 'session.inbound':
      requireFact(facts, 'received');
      onInbound(builder, event, facts.received, vault);
      break;
    case 'session.receipts':
      requireFact(facts, 'receipts');
      onReceipts(builder, facts.receipts);
      builder.perform({ type: 'confirm', token: event.token });
      break;
    case 'session.send_outcome':
      noteRefusal(builder, event.outcome);
      onOutcome(builder, event);
      break;
    case 'session.unreachable':
      builder.endAllQueued('BOT_SERVICE_UNREACHABLE');
      break;
    default:
      if (event.generation === builder.state.channel.context.generation)
        onLiveEvent(builder, event, facts, times);
  }
  stopBatchesOfNumber(builder, before);
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
      requireFact(facts, 'number');
      onConnected(builder, event, facts.number);
      break;
    case 'session.closed':
      builder.stepChannel({ ...event, type: 'closed', nowMs: builder.nowMs, chance: builder.chance() });
      break;
    case 'session.worker_lost':
      builder.stepChannel({
        type: 'closed',
        end: 'transient',
        statusCode: undefined,
        detail: event.detail,
        nowMs: builder.nowMs,
        chance: builder.chance(),
      });
      break;
    case 'session.limits':
      storeReportedLimits(builder, event);
      break;
    case 'session.groups':
      builder.change({ groups: { generation: event.generation, list: event.groups } });
      builder.perform({ type: 'groups_reported' });
      break;
    case 'session.recipient_known':
      if (isPreparing(builder.state, event.messageId)) learnRecipient(builder, event.number, facts.alias);
      break;
    case 'session.prepared':
      if (isOnWire(builder.state, event.messageId)) onRepeat(builder, event, facts.dispatch);
      else if (isOrdered(builder.state, event.messageId) && facts.dispatch)
        onPrepared(builder, event, facts.dispatch, times.outcomeMs);
      break;
  }
}

/**
 * True if the session was ordered to prepare that message in its present attempt. The order sets the message's body, and
 * the end of an attempt removes it. A report without a body is about an earlier attempt, which was recalled.
 */
function isOrdered(state: ShopState, messageId: string): boolean {
  return isPreparing(state, messageId) && state.currentBody !== undefined;
}

function isOnWire(state: ShopState, messageId: string): boolean {
  return pacingState(state) === 'sending' && state.currentMessage?.messageId === messageId;
}

function onOutcome(
  builder: TurnBuilder,
  { messageId, outcome, isLate }: SessionEventOf<'session.send_outcome'>,
): void {
  const backoffMs = outcome.kind === 'rate_limited' ? outcome.backoffMs : undefined;
  if (outcome.kind === 'no_chat') {
    if (isOrdered(builder.state, messageId)) onNoChat(builder);
  } else if (builder.state.currentMessage?.messageId === messageId && isLate !== true) {
    builder.stepPacing({ type: 'outcome', outcome, ...builder.drawEnds(backoffMs) });
  } else if (outcome.kind === 'rate_limited') {
    // It came late, but it is about the shop's number all the same.
    builder.stepPacing({ type: 'rate_limited_before', ...builder.drawEnds(backoffMs) });
  }
}

/**
 * One commit has the channel state with its phone, the shop's status, the number's shop and the owner's number
 * (docs/contract.md, Channel states).
 */
function onConnected(
  builder: TurnBuilder,
  event: SessionEventOf<'session.connected'>,
  number: NumberFacts,
): void {
  if (!takeNumber(builder, event, number)) return;
  const { phone } = event;
  const { ownerNumber } = tenantKeys(builder.state.shop.tenantId);
  builder.write(['SET', ownerNumber, `+${phone}`, 'NX']);
  builder.perform({ type: 'owner_number', phone: `+${phone}` });
}
