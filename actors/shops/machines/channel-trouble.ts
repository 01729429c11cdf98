import type { ChannelReason, ChannelTrouble } from '../../channel-reason.ts';
import type { ChannelContext, ChannelStateName } from './channel-context.ts';

type End = NonNullable<ChannelContext['lastEnd']>['end'];

/** An end that is the reason of the channel's state. It also states if the network's own code belongs to it. */
interface Known {
  readonly reason: ChannelReason;
  readonly hasCode: boolean;
  /** The states of which it is the reason; `flagged`: disconnected by a terminal loss. */
  readonly of: readonly (ChannelStateName | 'flagged')[];
}

const KNOWN: { readonly [Name in End]?: Known } = {
  temporarily_banned: { reason: 'TEMPORARILY_BANNED', hasCode: true, of: ['banned'] },
  forbidden: { reason: 'NUMBER_RESTRICTED', hasCode: true, of: ['flagged'] },
  logged_out: { reason: 'UNLINKED', hasCode: false, of: ['flagged'] },
  replaced: { reason: 'REPLACED', hasCode: false, of: ['flagged'] },
  number_in_use: { reason: 'NUMBER_IN_USE', hasCode: false, of: ['disconnected'] },
  passkey_required: { reason: 'PASSKEY_REQUIRED', hasCode: false, of: ['disconnected'] },
  login_refused: {
    reason: 'LOGIN_REFUSED',
    hasCode: true,
    of: ['starting', 'reconnecting', 'disconnected'],
  },
  egress_unreachable: {
    reason: 'EGRESS_UNREACHABLE',
    hasCode: false,
    of: ['starting', 'reconnecting', 'disconnected'],
  },
  outdated: { reason: 'CLIENT_OUTDATED', hasCode: true, of: ['starting', 'reconnecting'] },
};

/** Returns the reason why the channel has no session. Undefined if it has one, is connecting, or has no reason. */
export function channelTrouble(
  state: ChannelStateName,
  { lastEnd, ban, flagged }: ChannelContext,
): ChannelTrouble | undefined {
  const known = lastEnd === null ? undefined : KNOWN[lastEnd.end];
  const isLost = state === 'disconnected' && flagged;
  if (lastEnd === null || known === undefined || !known.of.includes(isLost ? 'flagged' : state))
    return undefined;
  const { reason, hasCode } = known;
  const code = lastEnd.networkCode ?? lastEnd.statusCode;
  const isBanned = state === 'banned' && ban != null;
  return {
    reason,
    ...(hasCode && code !== null ? { networkCode: code } : {}),
    ...(isBanned ? { bannedUntil: new Date(ban.untilMs).toISOString() } : {}),
  };
}

/** True if a past end could be mistaken for the reason of a later disconnect. */
export function isForgottenWhenConnected(end: End): boolean {
  return KNOWN[end]?.of.includes('flagged') === false;
}
