import { normalizeMessageContent, proto } from '@whiskeysockets/baileys';
import { textOf } from './inbound-message.ts';

const { EPHEMERAL_SETTING } = proto.Message.ProtocolMessage.Type;

/**
 * The accepted timers, in seconds. Phones offer a day, a week and 90 days. A modified client could set one second. Then
 * the shop's messages would also disappear from its own phone.
 */
const SHORTEST = 3_600;
const LONGEST = 365 * 86_400;

/**
 * Returns the timer of a message's chat: the seconds after which its messages disappear. 0 means that the chat has no
 * timer. Undefined if the message does not say. The setting comes as a message once, and each message of a phone
 * carries it (tulir/whatsmeow issue 354, WhiskeySockets/Baileys issue 2709). The network stores it nowhere else.
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
