import { normalizeMessageContent, proto } from '@whiskeysockets/baileys';
import { textOf } from './inbound-message.ts';

const { EPHEMERAL_SETTING } = proto.Message.ProtocolMessage.Type;

/**
 * Timers of chats, in seconds; phones offer a day, a week and 90 days. A changed client could name a second, after which
 * the shop's messages would be gone from its own phone, too.
 */
const SHORTEST = 3_600;
const LONGEST = 365 * 86_400;

/**
 * Returns the timer of the chat that a message came in, in seconds, after which its messages disappear; 0: it has none.
 * Undefined: the message does not tell. The setting itself comes as a message once, and each message of a phone
 * carries it (tulir/whatsmeow issue 354, WhiskeySockets/Baileys issue 2709). The network keeps it nowhere else.
 */
export function chatTimerIn(message: proto.IMessage): number | undefined {
  const seconds = secondsIn(message);
  const isTimer = seconds === 0 || (seconds !== undefined && seconds >= SHORTEST && seconds <= LONGEST);
  return isTimer ? seconds : undefined;
}

function secondsIn(message: proto.IMessage): number | undefined {
  const content = normalizeMessageContent(message);
  if (content?.protocolMessage != null) {
    const { type, ephemeralExpiration } = content.protocolMessage;
    return type === EPHEMERAL_SETTING ? (ephemeralExpiration ?? 0) : undefined;
  }
  if (content == null || textOf(message) === undefined) return undefined;
  const parts = Object.values(content) as ({ readonly contextInfo?: proto.IContextInfo | null } | null)[];
  return Math.max(0, ...parts.map((part) => part?.contextInfo?.expiration ?? 0));
}
