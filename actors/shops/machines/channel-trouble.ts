import type { ChannelReason, ChannelTrouble } from '../../channel-reason.ts';
import type { ChannelContext, ChannelStateName } from './channel-context.ts';

type EndKind = NonNullable<ChannelContext['lastEnd']>['end'];

/** An end that is the reason of the channel's state. It also states if the network's own code belongs to it. */
interface KnownTrouble {
  readonly reason: ChannelReason;
  readonly hasCode: boolean;
  /** The states of which it is the reason; `flagged`: disconnected by a terminal loss. */
  readonly states: readonly (ChannelStateName | 'flagged')[];
}

const KNOWN: { readonly [Name in EndKind]?: KnownTrouble } = {
  temporarily_banned: { reason: 'TEMPORARILY_BANNED', hasCode: true, states: ['banned'] },
  forbidden: { reason: 'NUMBER_RESTRICTED', hasCode: true, states: ['flagged'] },
  logged_out: { reason: 'UNLINKED', hasCode: false, states: ['flagged'] },
  replaced: { reason: 'REPLACED', hasCode: false, states: ['flagged'] },
  number_in_use: { reason: 'NUMBER_IN_USE', hasCode: false, states: ['disconnected'] },
  passkey_required: { reason: 'PASSKEY_REQUIRED', hasCode: false, states: ['disconnected'] },
  login_refused: {
    reason: 'LOGIN_REFUSED',
    hasCode: true,
    states: ['starting', 'reconnecting', 'disconnected'],
  },
  egress_unreachable: {
    reason: 'EGRESS_UNREACHABLE',
    hasCode: false,
    states: ['starting', 'reconnecting', 'disconnected'],
  },
  outdated: { reason: 'CLIENT_OUTDATED', hasCode: true, states: ['starting', 'reconnecting'] },
};

/** Returns the reason why the channel has no session. Undefined if it has one, or no reason is known. */
export function channelTrouble(
  state: ChannelStateName,
  { lastEnd, ban, flagged }: ChannelContext,
): ChannelTrouble | undefined {
  const knownTrouble = lastEnd === null ? undefined : KNOWN[lastEnd.end];
  const isLost = state === 'disconnected' && flagged;
  if (
    lastEnd === null ||
    knownTrouble === undefined ||
    !knownTrouble.states.includes(isLost ? 'flagged' : state)
  )
    return undefined;
  const { reason, hasCode } = knownTrouble;
  const code = lastEnd.networkCode ?? lastEnd.statusCode;
  const isBanned = state === 'banned' && ban != null;
  return {
    reason,
    ...(hasCode && code !== null ? { networkCode: code } : {}),
    ...(isBanned ? { bannedUntil: new Date(ban.untilMs).toISOString() } : {}),
  };
}

/** True if a past end could be mistaken for the reason of a later disconnect. */
export function isForgottenWhenConnected(end: EndKind): boolean {
  return KNOWN[end]?.states.includes('flagged') === false;
}
