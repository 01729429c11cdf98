import type { SessionEvent, SessionEventOf } from '../../sessions/session-events.ts';
import { tenantKeys } from '../../tenants/tenant-keys.ts';
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
import type { DecisionOptions, ShopTurns } from './typed-turns.ts';

/** Takes an event of a session. */
type Take<Event, Facts> = (
  builder: TurnBuilder,
  event: Event,
  facts: Facts,
  options: DecisionOptions,
) => void;

/** An event of any session of the shop. Batches may stop after it. */
function ofAny<Event, Facts>(take: Take<Event, Facts>): Take<Event, Facts> {
  return (builder, event, facts, options) => {
    const before = builder.state;
    take(builder, event, facts, options);
    stopBatchesOfNumber(builder, before);
  };
}

/** An event that is ignored unless it comes from the newest session. */
function ofNewest<Event extends { readonly generation: number }, Facts>(
  take: Take<Event, Facts>,
): Take<Event, Facts> {
  return ofAny((builder, event, facts, options) => {
    if (event.generation === builder.state.channel.context.generation) take(builder, event, facts, options);
  });
}

/** The turns that decide events of sessions. Inbound messages and outcomes count, from whatever session they come. */
export const SESSION_TURNS: Pick<ShopTurns, SessionEvent['type']> = {
  'session.inbound': ofAny((builder, event, { received }, { vault }) =>
    onInbound(builder, event, received, vault),
  ),
  'session.receipts': ofAny((builder, { token }, { receipts }) => {
    onReceipts(builder, receipts);
    builder.perform({ type: 'confirm', token });
  }),
  'session.send_outcome': ofAny((builder, event) => {
    noteRefusal(builder, event.outcome);
    onOutcome(builder, event);
  }),
  'session.unreachable': ofAny((builder) => builder.endAllQueued('BOT_SERVICE_UNREACHABLE')),
  'session.qr': ofNewest((builder, { qr, expiresAtMs }) => {
    builder.stepChannel({ type: 'qr' });
    if (channelState(builder.state) === 'qr_waiting') builder.change({ qr: { text: qr, expiresAtMs } });
  }),
  'session.pairing_code': ofNewest((builder, { code, expiresAtMs }) => {
    builder.stepChannel({ type: 'code' });
    if (channelState(builder.state) === 'code_waiting')
      builder.change({ pairingCode: { text: code, expiresAtMs } });
  }),
  'session.connected': ofNewest((builder, event, { number }) => onConnected(builder, event, number)),
  'session.closed': ofNewest((builder, event) =>
    builder.stepChannel({ ...event, type: 'closed', nowMs: builder.nowMs, chance: builder.chance() }),
  ),
  'session.worker_lost': ofNewest((builder, { detail }) =>
    builder.stepChannel({
      type: 'closed',
      end: 'transient',
      statusCode: undefined,
      detail,
      nowMs: builder.nowMs,
      chance: builder.chance(),
    }),
  ),
  'session.limits': ofNewest(storeReportedLimits),
  'session.groups': ofNewest((builder, { generation, groups: list }) => {
    builder.change({ groups: { generation, list } });
    builder.perform({ type: 'groups_reported' });
  }),
  'session.recipient_known': ofNewest((builder, { messageId, number }, { alias }) => {
    if (isPreparing(builder.state, messageId)) learnRecipient(builder, number, alias);
  }),
  'session.prepared': ofNewest((builder, event, { dispatch }, { times }) => {
    if (isOnWire(builder.state, event.messageId)) onRepeat(builder, event, dispatch);
    else if (isOrdered(builder.state, event.messageId) && dispatch)
      onPrepared(builder, event, dispatch, times.outcomeMs);
  }),
};

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
