/**
 * The chat network limits messages to people who have no chat with the number. It announces both limits itself. A
 * restriction bars every new chat until its end. A quota bounds the messages, within a cycle, to people who have not
 * answered (WhiskeySockets/Baileys issue 2441, pull requests 2442 and 2445).
 */
import { DAY_MS } from '../runtime/durations.ts';
import type { RecipientClass } from './recipient-class.ts';
import { shareOf } from './warm-up.ts';

/** No new chat may be started until a moment. */
export interface Restriction {
  /**
   * The network's own name for it, for example `RESTRICT_ALL_COMPANIONS`. One name is ours: `REFUSED`.
   */
  readonly kind: string;
  readonly untilMs: number;
  /** True if the network named the end. Otherwise it is a day after the network's last report of the restriction. */
  readonly isEndKnown: boolean;
}

/** The kind of a restriction that is known only from a refused message. */
export const REFUSED = 'REFUSED';

/** How long a restriction lasts whose end the network does not name, in milliseconds. */
export const UNNAMED_END_MS = DAY_MS;

/** How close the quota is to its end, in the network's own steps; `capped`: nothing is left. */
export type QuotaWarning = 'first' | 'second' | 'capped';

/** The messages that may go to people who have not answered, in one cycle. */
export interface NewChats {
  readonly quota: number;
  /** The network's count at `atMs`. */
  readonly used: number;
  /** Messages that were accepted and may not be among `used` yet. */
  readonly accepted: number;
  readonly warning: QuotaWarning | null;
  /** The end of the cycle, or null if the network gave none. */
  readonly endsAtMs: number | null;
  readonly atMs: number;
}

/** The limits that the network last reported for a number. */
export interface NetworkLimits {
  readonly restriction: Restriction | null;
  readonly newChats: NewChats | null;
}

/** No limit is known. */
export const NO_LIMITS: NetworkLimits = { restriction: null, newChats: null };

/** Returns the restriction in force, or null if there is none. */
export function restrictionAt({ restriction }: NetworkLimits, nowMs: number): Restriction | null {
  return restriction !== null && restriction.untilMs > nowMs ? restriction : null;
}

/** Returns the quota of the present cycle. Null if the network reported none, or that cycle is over. */
export function newChatsAt({ newChats }: NetworkLimits, nowMs: number): NewChats | null {
  return newChats !== null && cycleEndMs(newChats) > nowMs ? newChats : null;
}

/** Returns the limits with a share of the quota (`shareOf`). Without a share, the whole quota counts. */
export function quotaShare(limits: NetworkLimits, share: number | undefined): NetworkLimits {
  const { newChats } = limits;
  if (share === undefined || newChats === null) return limits;
  return { ...limits, newChats: { ...newChats, quota: shareOf(newChats.quota, share) } };
}

/** The reason why a message may not go now, and the time from which it may. */
export interface Bar {
  readonly message: string;
  readonly reliefMs: number;
}

/** Returns the bar against a message to a person without a chat at its acceptance, or undefined if there is none. */
export function newChatBar(limits: NetworkLimits, nowMs: number): Bar | undefined {
  const acceptedCount = newChatsAt(limits, nowMs)?.accepted ?? 0;
  return barOf(limits, acceptedCount, nowMs);
}

/** Returns the bar against an accepted message that is about to leave. Other accepted messages do not count. */
export function newChatBarOnWire(limits: NetworkLimits, nowMs: number): Bar | undefined {
  return barOf(limits, 0, nowMs);
}

/** Returns the quota after a message that was accepted has ended on the wire; `used`: the network may have it. */
export function endNewChat(newChats: NewChats, end: 'used' | 'unused'): NewChats {
  const { used, accepted } = newChats;
  return { ...newChats, used: end === 'used' ? used + 1 : used, accepted: Math.max(0, accepted - 1) };
}

/** Returns the code for a recipient of that class if the network or a budget bars them. */
export function classCapCode(
  recipientClass: RecipientClass | undefined,
): 'COLD_RECIPIENT_CAP_REACHED' | 'DECLARED_RECIPIENT_CAP_REACHED' {
  return recipientClass === 'declared' ? 'DECLARED_RECIPIENT_CAP_REACHED' : 'COLD_RECIPIENT_CAP_REACHED';
}

function barOf(limits: NetworkLimits, acceptedCount: number, nowMs: number): Bar | undefined {
  const restriction = restrictionAt(limits, nowMs);
  if (restriction !== null) {
    return {
      message: 'The chat network lets this number start no new chats for now.',
      reliefMs: restriction.untilMs,
    };
  }
  const newChats = newChatsAt(limits, nowMs);
  if (newChats === null) return undefined;
  const { quota, used, warning } = newChats;
  if (warning !== 'capped' && used + acceptedCount < quota) return undefined;
  return {
    message: `The chat network's quota of ${quota} messages to people who have not answered is used up.`,
    reliefMs: cycleEndMs(newChats),
  };
}

function cycleEndMs({ endsAtMs, atMs }: NewChats): number {
  return endsAtMs ?? atMs + UNNAMED_END_MS;
}
