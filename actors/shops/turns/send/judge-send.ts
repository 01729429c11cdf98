import { evaluateGroup } from '../../../../policy/evaluate-group.ts';
import { evaluateMessage } from '../../../../policy/evaluate-message.ts';
import { isPerson } from '../../../../policy/recipient.ts';
import { recipientClass } from '../../../../policy/recipient-class.ts';
import type { TenantSettings } from '../../../../policy/tenant-settings.ts';
import type { Evaluation, RecipientClass, SendAdmission } from '../../../../policy/verdict.ts';
import { done, type FailureCode, failed, type Outcome } from '../../../failure.ts';
import { warmupPairedAtMs } from '../../machines/channel-context.ts';
import type { MessageDraft } from '../../shop-operations.ts';
import { channelState, isToTellGroups, liveGroups, type ShopState } from '../../state/shop-state.ts';
import { channelRefusal, refused } from '../builder/acceptance.ts';
import { limitsNow } from '../number/network-word.ts';
import type { RecipientFacts } from '../people/recipient-facts.ts';

/** What of a draft is judged. */
export type JudgedDraft = Pick<MessageDraft, 'to' | 'text' | 'mediaUrl'>;

/** A send as it is judged: what was asked for, and what is known around it. */
export interface SendToJudge {
  readonly draft: JudgedDraft;
  readonly settings: TenantSettings;
  readonly recipient: RecipientFacts;
  /** A session worker is there to take orders. */
  readonly available: boolean;
  /** Only so much of each cap counts; absent: all of it. */
  readonly share?: number;
  readonly nowMs: number;
}

/** What passed the policy of its shop. */
export interface JudgedSend extends Pick<SendAdmission, 'verdict' | 'entry'> {
  /** Why the shop's own channel cannot take it now; undefined: it can. */
  readonly unavailable: FailureCode | undefined;
}

/**
 * Whether a shop may send this now: its policy, then its channel. The one function that decides, for a send and for
 * a forecast of one. Changes nothing, counts nothing, waits for nothing.
 */
export function judgeSend(state: ShopState, send: SendToJudge): Outcome<JudgedSend> {
  const unavailable = channelRefusal(state, send.available);
  if (cannotKnowGroup(state, send.draft.to))
    return unavailable === undefined ? NOT_YET_TOLD : failed(unavailable);
  const evaluation = evaluate(state, send);
  if (!evaluation.admitted) {
    const { code, message, retryAfterSeconds } = evaluation;
    return refused({ code, message, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) });
  }
  return done({ verdict: evaluation.verdict, entry: evaluation.entry, unavailable });
}

/** The class the policy counts the recipient in, also where it refuses. */
export function classOf(
  { ledger }: Pick<ShopState, 'ledger'>,
  { draft, recipient, nowMs }: Pick<SendToJudge, 'draft' | 'recipient' | 'nowMs'>,
): RecipientClass {
  if (!isPerson(draft.to)) return 'group';
  const { isCustomer, declaration, writer } = recipient;
  const lastInboundAtMs = writer?.lastInboundAtMs ?? null;
  return recipientClass({ isCustomer, declaration, lastInboundAtMs }, ledger.effectiveNowMs(nowMs));
}

/**
 * Whether the only obstacle is a group that no session told: the open one may be asked for it, and one that has its groups still
 * to tell waited for, which is no obstacle to anything else.
 */
export function mayAskForGroup(state: ShopState, refusal: FailureCode): boolean {
  if (refusal === 'GROUP_CONTEXT_REQUIRED') return channelState(state) === 'connected';
  return refusal === 'MSGAPP_NOT_CONNECTED' && isToTellGroups(state);
}

/** The answer about a group that only a session with its groups still to tell can tell; whoever asks again was waited for meanwhile. */
const NOT_YET_TOLD = failed('MSGAPP_NOT_CONNECTED', {
  message: "The shop's session has not told its groups yet.",
  retryAfterSeconds: 1,
});

/**
 * Whether the group is unknown and no open session has told its groups: silence is no word that there is no such group. The
 * refusal is then that of the channel, as for a number, and not that of the group.
 */
function cannotKnowGroup(state: ShopState, to: string): boolean {
  if (isPerson(to) || liveGroups(state) !== undefined) return false;
  return state.groups?.list.some(({ id }) => id === to) !== true;
}

const NO_URLS: readonly string[] = [];

function evaluate(state: ShopState, send: SendToJudge): Evaluation {
  const { draft, settings, recipient, share, nowMs } = send;
  const pairedAtMs = warmupPairedAtMs(state.channel.context);
  const { to, text, mediaUrl } = draft;
  const mediaUrls = mediaUrl === undefined ? NO_URLS : [mediaUrl];
  if (!isPerson(to)) {
    const group = state.groups?.list.find(({ id }) => id === to) ?? null;
    const { ledger } = state;
    return evaluateGroup(ledger, { groupId: to, text, mediaUrls, group, pairedAtMs, settings, nowMs });
  }
  return evaluateMessage(state.ledger, {
    recipient: recipient.alias ?? to,
    text,
    mediaUrls,
    isCustomer: recipient.isCustomer,
    lastInboundAtMs: recipient.writer?.lastInboundAtMs ?? null,
    optedOut: recipient.writer?.optedOut ?? false,
    declaration: recipient.declaration,
    network: limitsNow(state),
    pairedAtMs,
    settings,
    share,
    nowMs,
  });
}
