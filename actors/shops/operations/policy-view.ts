import { newChatsAt, restrictionAt } from '../../../policy/network-limits.ts';
import { policyUsage } from '../../../policy/policy-usage.ts';
import type { TenantSettings } from '../../../policy/tenant-settings.ts';
import { isoOrNull } from '../../iso-time.ts';
import { channelFailure } from '../judging/channel-refusal.ts';
import { classOf, judgeSend, type SendToJudge } from '../judging/judge-send.ts';
import { warmupPairedAtMs } from '../machines/channel-context.ts';
import type { SendForecast, ShopPolicyView } from '../shop-operations.ts';
import { channelState, pacingState, pausedBy, type ShopState } from '../state/shop-state.ts';

/** The shop's state and the moment to view it at. */
interface PolicyQuery {
  readonly settings: TenantSettings;
  readonly nowMs: number;
}

/** Returns the use of a shop's windows, and the state of its queue. Changes and counts nothing. */
export function policyView(state: ShopState, { settings, nowMs }: PolicyQuery): ShopPolicyView {
  const pairedAtMs = warmupPairedAtMs(state.channel.context);
  const { warmupDay, windows } = policyUsage(state.ledger, { settings, pairedAtMs, nowMs });
  const { perDay, perHour, coldPerDay, declaredPerDay, groupsPerDay, statusesPerDay } = windows;
  const network = networkView(state, nowMs);
  return {
    warmupDay,
    caps: {
      perDay: perDay.cap,
      perHour: perHour.cap,
      coldPerDay: coldPerDay.cap,
      declaredPerDay: declaredPerDay.cap,
    },
    usage: {
      today: perDay.used,
      lastHour: perHour.used,
      coldToday: coldPerDay.used,
      declaredToday: declaredPerDay.used,
    },
    groups: { perDay: groupsPerDay.cap, used: groupsPerDay.used },
    statuses: { perDay: statusesPerDay.cap, used: statusesPerDay.used },
    queue: queueView(state),
    coldBarredUntil: network.restrictedUntil,
    network,
    forecast: undefined,
  };
}

function networkView({ limits }: ShopState, nowMs: number): ShopPolicyView['network'] {
  const restriction = restrictionAt(limits, nowMs);
  const newChats = newChatsAt(limits, nowMs);
  return {
    restrictedUntil: isoOrNull(restriction?.untilMs),
    restriction: restriction?.kind ?? null,
    newChats: newChats && {
      quota: newChats.quota,
      used: newChats.used,
      endsAt: isoOrNull(newChats.endsAtMs),
    },
  };
}

function queueView(state: ShopState): ShopPolicyView['queue'] {
  const { untilMs, heldByOperator } = state.pacing.context;
  const pacing = pacingState(state);
  const until = isoOrNull(untilMs);
  const isResting = pacing === 'gap' || pacing === 'paused';
  const goesOn = channelState(state) === 'connected' && !heldByOperator && state.isTenantActive;
  return {
    length: state.queue.length + (state.currentMessage === undefined ? 0 : 1),
    pausedBy: pausedBy(state),
    pausedUntil: pacing === 'paused' ? until : null,
    nextSendAt: isResting && goesOn ? until : null,
  };
}

/**
 * The content that is judged if only a recipient is known. Its attachment has an address that no call can use, because
 * only `http` and `https` are accepted. So it never counts as a copy of a sent one.
 */
const UNSENT_CONTENT = { text: undefined, mediaUrl: 'urn:not-sent-yet' } as const;

/**
 * Returns the result of a send to this recipient now, from the function that decides on sends. If the shop's own
 * channel is unavailable, the result is the channel's: only asking the pool would show if it takes the message.
 */
export function forecastSend(
  state: ShopState,
  { to, ...facts }: Omit<SendToJudge, 'draft'> & { readonly to: string },
): SendForecast {
  const send: SendToJudge = { ...facts, draft: { to, ...UNSENT_CONTENT } };
  const judgement = judgeSend(state, send);
  const unavailable = judgement.ok ? judgement.value.unavailable : undefined;
  const stop = unavailable && channelFailure(state, unavailable, send.nowMs).failure;
  return { recipientClass: classOf(state, send), failure: judgement.ok ? stop : judgement.failure };
}
