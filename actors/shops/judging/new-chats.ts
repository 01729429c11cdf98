/** The network's quota of new chats, and its restriction of a number (policy/network-limits.ts), as they count now. */
import { type NetworkLimits, newChatBarOnWire, restrictionAt } from '../../../policy/network-limits.ts';
import { isPhoneNumber } from '../../../policy/recipient.ts';
import type { Writer } from '../records/writer.ts';
import type { ShopState } from '../state/shop-state.ts';

/**
 * Returns the limits. The stored count of accepted messages may include some that have ended. So no more of them count
 * than messages wait now. `offeredCount` is the number of other sends that count as accepted.
 */
export function limitsNow(
  state: Pick<ShopState, 'limits' | 'queue' | 'currentMessage'>,
  offeredCount = 0,
): NetworkLimits {
  const { limits } = state;
  const { newChats } = limits;
  const waitingCount = state.queue.length + (state.currentMessage === undefined ? 0 : 1);
  if (newChats === null) return limits;
  const acceptedCount = Math.min(newChats.accepted, waitingCount) + offeredCount;
  return acceptedCount === newChats.accepted
    ? limits
    : { ...limits, newChats: { ...newChats, accepted: acceptedCount } };
}

/** The facts about the chat with a person. `hasChat`: see `session.prepared`. If absent, `writer` alone decides. */
export interface KnownChat {
  readonly hasChat?: boolean | undefined;
  readonly writer: Writer | undefined;
}

/**
 * True if a message to that address counts in the network's quota of new chats. The address is a number, the person
 * never wrote to the shop, and the session did not report a chat.
 */
export function countsAsNewChat(to: string, { hasChat, writer }: KnownChat): boolean {
  return isPhoneNumber(to) && writer === undefined && hasChat !== true;
}

/**
 * True if the network bars a message to that address that is about to leave. While the number is restricted, a known
 * `hasChat` alone decides about a person. The quota counts messages to people who have not answered.
 */
export function barsNewChat(
  { limits }: Pick<ShopState, 'limits'>,
  chat: KnownChat & { readonly to: string },
  nowMs: number,
): boolean {
  const isRestricted = restrictionAt(limits, nowMs) !== null;
  const { to, hasChat } = chat;
  if (isRestricted && isPhoneNumber(to) && hasChat !== undefined) return !hasChat;
  return countsAsNewChat(to, chat) && newChatBarOnWire(limits, nowMs) !== undefined;
}
