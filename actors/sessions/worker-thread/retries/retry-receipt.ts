import {
  type BinaryNode,
  extractE2ESessionFromRetryReceipt,
  getBinaryNodeChild,
  getBinaryNodeChildUInt,
} from '@whiskeysockets/baileys';
import { isGroupAddress, isLidAddress, isNumberAddress, STATUS_CHAT } from '../wire/chat-address.ts';
import { personOf } from '../wire/inbound-message.ts';

/** The keys that a device sends along, from which a session is opened. */
export type RetryKeys = NonNullable<ReturnType<typeof extractE2ESessionFromRetryReceipt>>;

/** A device's request for a message that it could not read. */
export interface RetryReceipt {
  readonly wireId: string;
  /** The number of this attempt of the device, from 1. */
  readonly count: number;
  /** The address of the device. */
  readonly device: string;
  /** The address that the receipt came from and the answer goes to: a group, all statuses, or the device itself. */
  readonly from: string;
  /** The person to whom it was sent, if a device of the shop's own asks. */
  readonly recipient: string | undefined;
  /** The device is the shop's own. */
  readonly isOwn: boolean;
  /** The id that the device gives; it changes when the device is installed again. */
  readonly registrationId: number | undefined;
  readonly keys: RetryKeys | undefined;
}

/** Reads a receipt of type `retry`, or returns undefined if it names no message or no device. */
export function readRetryReceipt(node: BinaryNode, own: readonly string[]): RetryReceipt | undefined {
  const { id, from = '', participant, recipient } = node.attrs;
  const isToMany = isGroupAddress(from) || from === STATUS_CHAT;
  const device = isToMany ? (participant ?? '') : from;
  if (id === undefined || !(isNumberAddress(device) || isLidAddress(device))) return undefined;
  return {
    wireId: id,
    count: Number(getBinaryNodeChild(node, 'retry')?.attrs.count) || 1,
    device,
    from,
    recipient,
    isOwn: own.includes(personOf(device)),
    registrationId: getBinaryNodeChildUInt(node, 'registration', 4),
    keys: extractE2ESessionFromRetryReceipt(node) ?? undefined,
  };
}
