/**
 * The reasons why a channel has no session, if its owner can act on it or should know (docs/contract.md, Channel
 * reasons).
 */
export const CHANNEL_REASONS = [
  'NUMBER_IN_USE',
  'PASSKEY_REQUIRED',
  'NUMBER_RESTRICTED',
  'TEMPORARILY_BANNED',
  'LOGIN_REFUSED',
  'CLIENT_OUTDATED',
  'EGRESS_UNREACHABLE',
  'UNLINKED',
  'REPLACED',
] as const;
export type ChannelReason = (typeof CHANNEL_REASONS)[number];

/** A reason, with the code and text that the network gave. */
export interface ChannelTrouble {
  readonly reason: ChannelReason;
  /** The network's own code of a refusal. */
  readonly networkCode?: number;
  /** When a temporary ban ends, in ISO 8601. */
  readonly bannedUntil?: string;
}
