import { type BinaryNode, normalizeMessageContent, proto } from '@whiskeysockets/baileys';
import { userOf } from './chat-address.ts';
import { type InboundEnvelope, personOf, readEnvelope } from './inbound-message.ts';

const { HistorySyncType } = proto.HistorySync;

/** The parts of a history that have ids of contacts or tokens. */
const READ_PARTS: ReadonlySet<unknown> = new Set([
  HistorySyncType.INITIAL_BOOTSTRAP,
  HistorySyncType.RECENT,
  HistorySyncType.NON_BLOCKING_DATA,
]);

/** The phone's notice of a part of its history. */
export type HistoryNotice = proto.Message.IHistorySyncNotification;

/** A copy of a message that the phone has. */
interface PhoneCopy {
  readonly envelope: InboundEnvelope;
  readonly message: proto.IMessage;
}

/**
 * Reads a message of the shop's own phone. Returns undefined for any other sender.
 *
 * `copies` are the messages in its reply. The request is for a message that came without a ciphertext, as first
 * messages from adverts do, or that could not be read. `otherAddress` is the sender's other address when the message
 * came, which the phone may leave out. `notice` is the notice of a part of the history that has facts to read.
 */
export function readPhoneMessage(
  stanza: BinaryNode,
  message: proto.IMessage,
  options: {
    readonly own: readonly string[];
    readonly otherAddress: (wireId: string) => string | undefined;
  },
): { readonly copies: readonly PhoneCopy[]; readonly notice: HistoryNotice | undefined } | undefined {
  const { own, otherAddress } = options;
  if (!isOwnPhone(stanza.attrs.from ?? '', own)) return undefined;
  const protocolMessage = normalizeMessageContent(
    message.deviceSentMessage?.message ?? message,
  )?.protocolMessage;
  const results = protocolMessage?.peerDataOperationRequestResponseMessage?.peerDataOperationResult ?? [];
  const notice = protocolMessage?.historySyncNotification;
  return {
    copies: results.flatMap(({ placeholderMessageResendResponse }) => {
      const bytes = placeholderMessageResendResponse?.webMessageInfoBytes;
      return bytes == null ? [] : readCopy(proto.WebMessageInfo.decode(bytes), own, otherAddress);
    }),
    notice: READ_PARTS.has(notice?.syncType) ? (notice ?? undefined) : undefined,
  };
}

function readCopy(
  { key, message, messageTimestamp, pushName }: proto.IWebMessageInfo,
  ownAddresses: readonly string[],
  otherAddress: (wireId: string) => string | undefined,
): PhoneCopy[] {
  if (message == null || key?.id == null || key.remoteJid == null || key.fromMe === true) return [];
  const otherSide = otherAddress(key.id);
  const attrs = {
    id: key.id,
    from: key.remoteJid,
    t: String(messageTimestamp ?? 0),
    ...(otherSide === undefined ? {} : { sender_pn: otherSide }),
    ...(pushName == null || pushName === '' ? {} : { notify: pushName }),
  };
  const envelope = readEnvelope({ tag: 'message', attrs }, ownAddresses);
  return envelope === undefined ? [] : [{ envelope, message }];
}

/** True if an address is the shop's phone, not another device linked to it. */
function isOwnPhone(address: string, ownAddresses: readonly string[]): boolean {
  const [, device = '0'] = address.split('@')[0]?.split(':') ?? [];
  return userOf(address) !== '' && device === '0' && ownAddresses.includes(personOf(address));
}
