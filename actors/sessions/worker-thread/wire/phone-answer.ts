import { type BinaryNode, proto } from '@whiskeysockets/baileys';
import { userOf } from './chat-address.ts';
import { type InboundEnvelope, personOf, readEnvelope } from './inbound-message.ts';

/** A message that the shop's own phone reported. */
export interface PhoneMessage {
  readonly envelope: InboundEnvelope;
  readonly message: proto.IMessage;
}

/**
 * Returns the messages in the reply of the shop's phone. The request is for a message that came without a ciphertext,
 * as first messages from adverts do, or that could not be read. `otherAddress` is the sender's other address when the
 * message came, which the phone may leave out.
 */
export function phoneMessages(
  stanza: BinaryNode,
  message: proto.IMessage,
  options: {
    readonly own: readonly string[];
    readonly otherAddress: (wireId: string) => string | undefined;
  },
): PhoneMessage[] {
  const { own, otherAddress } = options;
  const answer = (message.deviceSentMessage?.message ?? message).protocolMessage
    ?.peerDataOperationRequestResponseMessage;
  if (answer == null || !isOwnPhone(stanza.attrs.from ?? '', own)) return [];
  return (answer.peerDataOperationResult ?? []).flatMap(({ placeholderMessageResendResponse }) => {
    const bytes = placeholderMessageResendResponse?.webMessageInfoBytes;
    return bytes == null ? [] : readCopy(proto.WebMessageInfo.decode(bytes), own, otherAddress);
  });
}

function readCopy(
  { key, message, messageTimestamp, pushName }: proto.IWebMessageInfo,
  own: readonly string[],
  otherAddress: (wireId: string) => string | undefined,
): PhoneMessage[] {
  if (message == null || key?.id == null || key.remoteJid == null || key.fromMe === true) return [];
  const other = otherAddress(key.id);
  const attrs = {
    id: key.id,
    from: key.remoteJid,
    t: String(messageTimestamp ?? 0),
    ...(other === undefined ? {} : { sender_pn: other }),
    ...(pushName ? { notify: pushName } : {}),
  };
  const envelope = readEnvelope({ tag: 'message', attrs }, own);
  return envelope === undefined ? [] : [{ envelope, message }];
}

/** True if an address is the shop's phone, not another device linked to it. */
export function isOwnPhone(address: string, own: readonly string[]): boolean {
  const [, device = '0'] = address.split('@')[0]?.split(':') ?? [];
  return userOf(address) !== '' && device === '0' && own.includes(personOf(address));
}
