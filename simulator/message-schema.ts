import { type BinaryNode, getBinaryNodeChild, getBinaryNodeChildren } from '@whiskeysockets/baileys';
import { parseUserAddress, STATUS_ADDRESS } from './addresses.ts';
import { attribute } from './stanzas.ts';

/** The ack error of a stanza that no web client would send (Baileys issue 2794: `smax-invalid`). */
export const MALFORMED = 479;

/**
 * Whether a client's message is one that the real server refuses for its form (README.md, how that is known).
 * `needsNumber`: whether a message to a LID must name the number too.
 */
export function isMalformed(stanza: BinaryNode, needsNumber: boolean): boolean {
  const to = attribute(stanza, 'to');
  const isForOneDevice = stanza.attrs.participant !== undefined || stanza.attrs.device_fanout === 'false';
  if (isForOneDevice || stanza.attrs.category === 'peer') return false;
  if (to === STATUS_ADDRESS) {
    const setting = getBinaryNodeChild(stanza, 'meta')?.attrs.status_setting;
    const recipients = getBinaryNodeChildren(getBinaryNodeChild(stanza, 'participants'), 'to');
    return setting === undefined || recipients.some(({ attrs }) => !isLid(attrs.jid));
  }
  return needsNumber && isLid(to) && stanza.attrs.peer_recipient_pn === undefined;
}

const isLid = (address: string | undefined): boolean => parseUserAddress(address)?.addressing === 'lid';
