import type { BinaryNode, proto } from '@whiskeysockets/baileys';
import { isGroupAddress } from '../wire/chat-address.ts';
import type { RetryReceipt } from './retry-receipt.ts';

/** Returns the kind of content of a message, as its stanza names it. Undefined for a text. */
function mediaTypeOf(message: proto.IMessage): 'image' | 'video' | 'document' | undefined {
  if (message.imageMessage != null) return 'image';
  if (message.videoMessage != null) return 'video';
  return message.documentMessage == null && message.documentWithCaptionMessage == null
    ? undefined
    : 'document';
}

/**
 * Returns the stanza that replies to a retry receipt: sealed only for the device that asked (whatsmeow `retry.go`;
 * oxidezap/whatsapp-rust, pull 408). In a group `participant` names it.
 */
export function retryStanza(parts: {
  readonly receipt: RetryReceipt;
  readonly message: proto.IMessage;
  readonly sealed: { readonly type: string; readonly ciphertext: Uint8Array };
  readonly deviceIdentity: Uint8Array;
  /** The token that the person gave the shop; without one the network may refuse the answer (463). */
  readonly token: Uint8Array | undefined;
  /** How the group names its members. */
  readonly addressingMode: string | undefined;
}): BinaryNode {
  const { receipt, message, sealed, deviceIdentity, token, addressingMode } = parts;
  const { wireId, from, device, recipient, count } = receipt;
  const mediaType = mediaTypeOf(message);
  const isToMany = device !== from;
  const attrs: Record<string, string> = {
    id: wireId,
    to: from,
    type: mediaType === undefined ? 'text' : 'media',
    ...(isToMany ? { participant: device } : { device_fanout: 'false' }),
    ...(recipient === undefined ? {} : { recipient }),
    ...(isGroupAddress(from) && addressingMode !== undefined ? { addressing_mode: addressingMode } : {}),
  };
  const enc: BinaryNode = {
    tag: 'enc',
    attrs: {
      v: '2',
      type: sealed.type,
      count: String(count),
      ...(mediaType === undefined ? {} : { mediatype: mediaType }),
    },
    content: sealed.ciphertext,
  };
  return {
    tag: 'message',
    attrs,
    content: [
      enc,
      { tag: 'device-identity', attrs: {}, content: deviceIdentity },
      ...(token === undefined ? [] : [{ tag: 'tctoken', attrs: {}, content: token }]),
    ],
  };
}
