import { createHash } from 'node:crypto';
import type { BinaryNode } from '@whiskeysockets/baileys';
import { isLidAddress, isNumberAddress, plainAddress } from './chat-address.ts';

/** The facts in a message's envelope. */
export interface InboundEnvelope {
  readonly wireId: string;
  /** The sender's address: by number, or the network's own id. */
  readonly sender: string;
  /** The sender by number, if the envelope names it in addition to the id. */
  readonly senderByNumber: string | undefined;
  readonly atMs: number;
  /** The network's own id of the sender, if the envelope names it. */
  readonly lid: string | undefined;
  /** The name that the sender chose. */
  readonly name: string | undefined;
}

/**
 * Returns the envelope of a message that one person wrote to the shop; undefined for groups, broadcasts, and our own
 * devices.
 */
export function readEnvelope(
  stanza: BinaryNode,
  ownAddresses: readonly string[],
): InboundEnvelope | undefined {
  const { id, participant, recipient, category, t } = stanza.attrs;
  if (id === undefined || participant !== undefined || recipient !== undefined) return undefined;
  const fromAddress = plainAddress(stanza.attrs.from ?? '');
  if (category === 'peer' || !(isNumberAddress(fromAddress) || isLidAddress(fromAddress))) return undefined;
  if (ownAddresses.includes(personOf(fromAddress))) return undefined;
  const byNumber = [fromAddress, stanza.attrs.sender_pn, stanza.attrs.participant_pn].find(
    (address) => address !== undefined && isNumberAddress(address),
  );
  const lid = [fromAddress, stanza.attrs.sender_lid].find(
    (address) => address !== undefined && isLidAddress(address),
  );
  return {
    wireId: boundedId(id),
    sender: fromAddress,
    senderByNumber: byNumber,
    atMs: Number(t ?? 0) * 1_000,
    lid: lid && personOf(lid),
    name: stanza.attrs.notify,
  };
}

/**
 * The longest id that is kept unchanged, in characters. Clients make up to 32 (the client's `generateMessageIDV2`: 22).
 */
const LONGEST_ID = 64;

/**
 * Returns the id, or its hash if it is long. The sender makes up the id, as long as the network lets it, and it is
 * stored.
 */
function boundedId(id: string): string {
  return id.length <= LONGEST_ID ? id : createHash('sha256').update(id).digest('hex');
}

/** Returns an address without its device, so that all devices of a person compare equal. */
export function personOf(address: string): string {
  const [user = '', server = ''] = plainAddress(address).split('@');
  return `${user.split(':')[0]}@${server}`;
}
