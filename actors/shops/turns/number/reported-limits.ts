/**
 * Handles the network's reports on a shop's number (policy/network-limits.ts). A restriction ends at its named end, or
 * earlier if the network lifts it. If the network names no end, or only refused a message, the restriction ends a day
 * later. No message is ever sent to find out.
 */
import {
  type NetworkLimits,
  type NewChats,
  newChatsAt,
  REFUSED,
  type Restriction,
  restrictionAt,
  UNNAMED_END_MS,
} from '../../../../policy/network-limits.ts';
import type {
  ReportedNewChats,
  ReportedRestriction,
  SendOutcome,
  SessionEventOf,
} from '../../../sessions/session-events.ts';
import { limitsNow } from '../../judging/new-chats.ts';
import type { ShopState } from '../../state/shop-state.ts';
import { refusedUntil } from '../../state/stored-limits.ts';
import type { TurnBuilder } from '../builder/turn-builder.ts';

/**
 * The network refuses a message that would start a chat, since the number is restricted (docs/chat-client.md, Sending).
 */
const RESTRICTED_CODE = '463';
/** The network refused the message, because the quota of such messages is used up. */
const CAPPED_CODE = '475';

/** Stores the limits that the session reports. */
export function storeReportedLimits(
  builder: TurnBuilder,
  { restriction, newChats }: SessionEventOf<'session.limits'>,
): void {
  const { state, nowMs } = builder;
  const { limits } = state;
  const next: NetworkLimits = {
    restriction: restriction === undefined ? limits.restriction : withRestriction(limits, restriction, nowMs),
    newChats: newChats === undefined ? limits.newChats : withNewChats(state, newChats, nowMs),
  };
  if (JSON.stringify(next) !== JSON.stringify(limits)) builder.change({ limits: next });
}

/** Notes that a message was refused. The session requests the network's report on it, which follows. */
export function noteRefusal(builder: TurnBuilder, outcome: SendOutcome): void {
  if (outcome.kind !== 'refused') return;
  const { nowMs } = builder;
  const { limits } = builder.state;
  if (outcome.code === RESTRICTED_CODE) {
    // An end that the network named is more exact.
    if (restrictionAt(limits, nowMs)?.isEndKnown === true) return;
    builder.change({ limits: { ...limits, restriction: refusedUntil(nowMs + UNNAMED_END_MS) } });
  } else if (outcome.code === CAPPED_CODE) {
    const knownQuota = newChatsAt(limits, nowMs) ?? { quota: 0, used: 0, accepted: 0, endsAtMs: null };
    builder.change({ limits: { ...limits, newChats: { ...knownQuota, warning: 'capped', atMs: nowMs } } });
  }
}

/** A message to a person without a chat is accepted: it will use one of the quota. */
export function countNewChat(builder: TurnBuilder): void {
  const { newChats } = limitsNow(builder.state);
  if (newChats !== null) changeNewChats(builder, { ...newChats, accepted: newChats.accepted + 1 });
}

/**
 * Such a message was cancelled, and uses none. It waits no more, so `limitsNow` may have left it out already. The
 * stored count still has it.
 */
export function uncountNewChat(builder: TurnBuilder): void {
  const { newChats } = builder.state.limits;
  if (newChats !== null && newChats.accepted > 0)
    changeNewChats(builder, { ...newChats, accepted: newChats.accepted - 1 });
}

/** Ends the restriction at its time. */
export function endRestriction(builder: TurnBuilder): void {
  builder.change({ limits: { ...builder.state.limits, restriction: null } });
}

function changeNewChats(builder: TurnBuilder, newChats: NewChats): void {
  builder.change({ limits: { ...builder.state.limits, newChats } });
}

function withRestriction(
  { restriction }: NetworkLimits,
  { isActive, kind, endsAtMs }: ReportedRestriction,
  nowMs: number,
): Restriction | null {
  if (isActive) {
    const isEndKnown = endsAtMs !== null && endsAtMs > nowMs;
    return { kind, untilMs: isEndKnown ? endsAtMs : nowMs + UNNAMED_END_MS, isEndKnown };
  }
  // The network also refuses first messages while it reports no restriction (devlikeapro/waha issue 2219). Another
  // first message would only be refused too.
  return restriction?.kind === REFUSED ? restriction : null;
}

function withNewChats(state: ShopState, report: ReportedNewChats | null, nowMs: number): NewChats | null {
  const acceptedCount = limitsNow(state).newChats?.accepted ?? 0;
  return report === null ? null : { ...report, accepted: acceptedCount, atMs: nowMs };
}
