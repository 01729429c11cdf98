import {
  type BinaryNode,
  extractE2ESessionFromRetryReceipt,
  getBinaryNodeChild,
  type proto,
} from '@whiskeysockets/baileys';
import type { MediaType } from '../../../media-type.ts';
import { isGroupAddress, isLidAddress, isNumberAddress, STATUS_CHAT } from '../wire/chat-address.ts';
import { personOf } from '../wire/inbound-message.ts';

/** The keys that a device sends along, from which a session is opened. */
type RetryKeys = NonNullable<ReturnType<typeof extractE2ESessionFromRetryReceipt>>;

/** A device's request for a message that it could not read. */
export interface RetryReceipt {
  readonly wireId: string;
  /** The number of this attempt of the device, from 1. */
  readonly count: number;
  /** The address of the device. */
  readonly device: string;
  /** The address that the receipt came from and the answer goes to: a group, all statuses, or the device itself. */
  readonly from: string;
  /** The person to whom the message was sent. Present if a device of the shop's own asks. */
  readonly recipient: string | undefined;
  /** True if the device is the shop's own. */
  readonly isOwn: boolean;
  /** The id that the device gives; it changes when the device is installed again. */
  readonly registrationId: number | undefined;
  readonly keys: RetryKeys | undefined;
}

/** Reads a receipt of type `retry`, or returns undefined if it names no message or no device. */
export function readRetryReceipt(
  node: BinaryNode,
  ownAddresses: readonly string[],
): RetryReceipt | undefined {
  const { id, from = '', participant, recipient } = node.attrs;
  const isToMany = isGroupAddress(from) || from === STATUS_CHAT;
  const device = isToMany ? (participant ?? '') : from;
  const person = personOf(device);
  const retry = getBinaryNodeChild(node, 'retry')?.attrs;
  // The message's own id. The receipt's may differ (tulir/whatsmeow, retry.go; vinikjkkj/zapo, src/retry/parse.ts).
  const wireId = retry?.id ?? id;
  if (wireId === undefined || !(isNumberAddress(person) || isLidAddress(person))) return undefined;
  return {
    wireId,
    count: Number(retry?.count) || 1,
    device,
    from,
    recipient,
    isOwn: ownAddresses.includes(person),
    registrationId: registrationIdIn(node),
    keys: extractE2ESessionFromRetryReceipt(node) ?? undefined,
  };
}

/**
 * Returns the id that the device gives: up to four bytes, without leading zeros (oxidezap/whatsapp-rust,
 * wacore/src/protocol/retry.rs). The client's reader gives NaN for fewer than four.
 */
function registrationIdIn(node: BinaryNode): number | undefined {
  const bytes = getBinaryNodeChild(node, 'registration')?.content;
  if (!(bytes instanceof Uint8Array) || bytes.length === 0 || bytes.length > 4) return undefined;
  return Buffer.from(bytes).readUIntBE(0, bytes.length);
}

/** Returns the kind of content of a message, as its stanza names it. Undefined for a text. */
function mediaTypeOf(message: proto.IMessage): MediaType | undefined {
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
export function retryStanza(options: {
  readonly receipt: RetryReceipt;
  readonly message: proto.IMessage;
  readonly sealed: { readonly type: string; readonly ciphertext: Uint8Array };
  readonly deviceIdentity: Uint8Array;
  /** The token that the person gave the shop; without one the network may refuse the answer (463). */
  readonly token: Uint8Array | undefined;
  /** How the group names its members. */
  readonly addressingMode: string | undefined;
}): BinaryNode {
  const { receipt, message, sealed, deviceIdentity, token, addressingMode } = options;
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
