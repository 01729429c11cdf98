import { evaluateGroup } from '../../../policy/evaluate-group.ts';
import { evaluateMessage } from '../../../policy/evaluate-message.ts';
import { isPerson } from '../../../policy/recipient.ts';
import type { RecipientClass } from '../../../policy/recipient-class.ts';
import type { TenantSettings } from '../../../policy/tenant-settings.ts';
import type { Evaluation, SendAdmission } from '../../../policy/verdict.ts';
import {
  type ChannelCode,
  done,
  type FailureCode,
  failed,
  type Outcome,
  refusedBy,
  type SendCode,
} from '../../failure.ts';
import { warmupPairedAtMs } from '../machines/channel-context.ts';
import { personClassOf, type RecipientFacts } from '../reading/recipient-facts.ts';
import type { MessageDraft } from '../shop-operations.ts';
import { awaitsGroups, channelState, liveGroups, type ShopState } from '../state/shop-state.ts';
import { channelFailure, channelRefusal } from './channel-refusal.ts';
import { limitsNow } from './new-chats.ts';

/** A send to judge: the request, and the facts about it. */
export interface SendToJudge {
  readonly draft: Pick<MessageDraft, 'to' | 'text' | 'mediaUrl'>;
  readonly settings: TenantSettings;
  readonly recipient: RecipientFacts;
  readonly hasWorker: boolean;
  /** The part of each cap that counts. If absent, all of it. */
  readonly share?: number;
  readonly nowMs: number;
}

/** A send that passed the policy of its shop. */
export interface JudgedSend extends Pick<SendAdmission, 'verdict' | 'entry'> {
  /** The reason why the shop's own channel cannot take it now. Undefined if it can. */
  readonly unavailable: ChannelCode | undefined;
}

/**
 * Decides if a shop may send this now: its policy, then its channel. It decides for each send that callers ask this
 * shop for, and for a forecast of one. A message of another shop is judged in `carry-message.ts`, and a status in
 * `accept-status.ts`. Changes nothing, counts nothing, waits for nothing.
 */
export function judgeSend(state: ShopState, send: SendToJudge): Outcome<JudgedSend, SendCode> {
  const unavailable = channelRefusal(state, send.hasWorker);
  const evaluation = evaluate(state, send);
  if (!evaluation.isAdmitted) {
    const isUnreported =
      evaluation.code === 'GROUP_CONTEXT_REQUIRED' && cannotKnowGroup(state, send.draft.to);
    if (!isUnreported) return refusedBy(evaluation);
    return unavailable === undefined ? GROUPS_NOT_REPORTED : channelFailure(state, unavailable, send.nowMs);
  }
  return done({ verdict: evaluation.verdict, entry: evaluation.entry, unavailable });
}

/** Returns the class in which the policy counts the recipient, also if it refuses. */
export function classOf(
  { ledger }: Pick<ShopState, 'ledger'>,
  { draft, recipient, nowMs }: Pick<SendToJudge, 'draft' | 'recipient' | 'nowMs'>,
): RecipientClass {
  if (!isPerson(draft.to)) return 'group';
  return personClassOf(recipient, ledger.effectiveNowMs(nowMs));
}

/**
 * True if the only obstacle is a group that no session reported. An open session may be asked for it. If a
 * session will still report its groups, the caller may wait for that report.
 */
export function mayAskForGroup(state: ShopState, refusal: FailureCode): boolean {
  if (refusal === 'GROUP_CONTEXT_REQUIRED') return channelState(state) === 'connected';
  return refusal === 'MSGAPP_NOT_CONNECTED' && awaitsGroups(state);
}

/**
 * The answer about a group that the session has not reported yet; the next call finds it if it was reported meanwhile.
 */
const GROUPS_NOT_REPORTED = failed('MSGAPP_NOT_CONNECTED', {
  message: "The shop's session has not reported its groups yet.",
  retryAfterSeconds: 1,
});

/**
 * True if the group is unknown and no open session has reported its groups. A missing report does not prove that the
 * group does not exist. The refusal is then the channel's, as for a number, not the group's.
 */
function cannotKnowGroup(state: ShopState, recipient: string): boolean {
  if (isPerson(recipient) || liveGroups(state) !== undefined) return false;
  return state.groups?.list.some(({ id }) => id === recipient) !== true;
}

function evaluate(state: ShopState, send: SendToJudge): Evaluation {
  const { draft, settings, recipient, share, nowMs } = send;
  const pairedAtMs = warmupPairedAtMs(state.channel.context);
  const { to, text, mediaUrl } = draft;
  if (!isPerson(to)) {
    const group = state.groups?.list.find(({ id }) => id === to) ?? null;
    const { ledger } = state;
    return evaluateGroup(ledger, { groupId: to, text, mediaUrl, group, pairedAtMs, settings, nowMs });
  }
  return evaluateMessage(state.ledger, {
    recipient: recipient.alias ?? to,
    text,
    mediaUrl,
    isCustomer: recipient.isCustomer,
    lastInboundAtMs: recipient.writer?.lastInboundAtMs ?? null,
    hasOptedOut: recipient.writer?.optedOut ?? false,
    declaration: recipient.declaration,
    network: limitsNow(state),
    pairedAtMs,
    settings,
    share,
    nowMs,
  });
}
