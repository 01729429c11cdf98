import type { SessionEvent, SessionEventOf } from '../../sessions/session-events.ts';
import { channelState } from '../state/shop-state.ts';
import { stopBatchesOfNumber } from './batches/stop-batch.ts';
import { stepChannel, stepPacing } from './builder/step-machines.ts';
import type { TurnBuilder } from './builder/turn-builder.ts';
import { onNoChat, onPrepared } from './dispatch/dispatch-message.ts';
import { onReceipts } from './dispatch/receipt-turn.ts';
import { onInbound } from './inbound/inbound-turn.ts';
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

/** Takes an event of any session of the shop, and then stops batches that may not continue. */
function ofAny<Event, Facts>(take: Take<Event, Facts>): Take<Event, Facts> {
  return (builder, event, facts, options) => {
    take(builder, event, facts, options);
    stopBatchesOfNumber(builder);
  };
}

/** Takes an event if it is from the newest session, and ignores it otherwise. */
function ofNewest<Event extends { readonly generation: number }, Facts>(
  take: Take<Event, Facts>,
): Take<Event, Facts> {
  return ofAny((builder, event, facts, options) => {
    if (event.generation === builder.state.channel.context.generation) take(builder, event, facts, options);
  });
}

/**
 * The turns that decide events of sessions. Inbound messages, receipts and outcomes count even from an earlier session,
 * and so does the report that no worker can be reached.
 */
export const SESSION_TURNS: Pick<ShopTurns, SessionEvent['type']> = {
  'session.inbound': ofAny(onInbound),
  'session.receipts': ofAny(onReceipts),
  'session.send_outcome': ofAny(onOutcome),
  'session.unreachable': ofAny((builder) => builder.endAllQueued('BOT_SERVICE_UNREACHABLE')),
  'session.qr': ofNewest(onQr),
  'session.pairing_code': ofNewest(onPairingCode),
  'session.connected': ofNewest(takeNumber),
  'session.closed': ofNewest(onClosed),
  'session.worker_lost': ofNewest((builder, event) =>
    onClosed(builder, { ...event, type: 'session.closed', end: 'transient', statusCode: undefined }),
  ),
  'session.limits': ofNewest(storeReportedLimits),
  'session.groups': ofNewest(onGroups),
  'session.recipient_known': ofNewest(learnRecipient),
  'session.prepared': ofNewest(onPrepared),
};

function onQr(builder: TurnBuilder, { qr, expiresAtMs }: SessionEventOf<'session.qr'>): void {
  stepChannel(builder, { type: 'qr' });
  if (channelState(builder.state) === 'qr_waiting') builder.change({ qr: { text: qr, expiresAtMs } });
}

function onPairingCode(
  builder: TurnBuilder,
  { code, expiresAtMs }: SessionEventOf<'session.pairing_code'>,
): void {
  stepChannel(builder, { type: 'code' });
  if (channelState(builder.state) === 'code_waiting')
    builder.change({ pairingCode: { text: code, expiresAtMs } });
}

function onClosed(builder: TurnBuilder, event: SessionEventOf<'session.closed'>): void {
  stepChannel(builder, { ...event, type: 'closed', nowMs: builder.nowMs, chance: builder.chance() });
}

function onGroups(
  builder: TurnBuilder,
  { generation, groups: list }: SessionEventOf<'session.groups'>,
): void {
  builder.change({ groups: { generation, list } });
  builder.perform({ type: 'groups_reported' });
}

function onOutcome(
  builder: TurnBuilder,
  { messageId, outcome, isLate }: SessionEventOf<'session.send_outcome'>,
): void {
  noteRefusal(builder, outcome);
  const backoffMs = outcome.kind === 'rate_limited' ? outcome.backoffMs : undefined;
  if (outcome.kind === 'no_chat') {
    onNoChat(builder, messageId);
  } else if (builder.state.currentMessage?.messageId === messageId && isLate !== true) {
    stepPacing(builder, { type: 'outcome', outcome, ...builder.waitEnds(backoffMs) });
  } else if (outcome.kind === 'rate_limited') {
    // A late outcome does not concern the current message, but its rate signal concerns the number.
    stepPacing(builder, { type: 'rate_limited_before', ...builder.waitEnds(backoffMs) });
  }
}
