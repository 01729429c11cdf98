import { type BinaryNode, getBinaryNodeChild, getBinaryNodeChildren } from '@whiskeysockets/baileys';
import type { Network } from '../network.ts';
import { isGroupAddress, parseUserAddress, STATUS_ADDRESS } from '../socket/addresses.ts';
import { attribute } from '../socket/stanzas.ts';

/** The ack error of a stanza that no web client would send (Baileys issue 2794: `smax-invalid`). */
export const MALFORMED = 479;

/** True if the real server refuses a client's message for its form. README.md gives the sources. */
export function isMalformed(
  { numbers, lidsNeedNumber }: Pick<Network, 'numbers' | 'lidsNeedNumber'>,
  stanza: BinaryNode,
): boolean {
  const recipient = attribute(stanza, 'to');
  const isForOneDevice = stanza.attrs.participant !== undefined || stanza.attrs.device_fanout === 'false';
  if (isForOneDevice || stanza.attrs.category === 'peer') return false;
  const listedNodes = getBinaryNodeChildren(getBinaryNodeChild(stanza, 'participants'), 'to');
  const areLids = listedNodes.map(({ attrs }) => isLid(attrs.jid));
  if (recipient === STATUS_ADDRESS) {
    const setting = getBinaryNodeChild(stanza, 'meta')?.attrs.status_setting;
    return setting === undefined || areLids.includes(false);
  }
  if (isGroupAddress(recipient)) return false;
  if (new Set(areLids).size > 1) return true;
  const { peer_recipient_pn: number } = stanza.attrs;
  if (number !== undefined) return !isLid(recipient) || !isNumberOf(numbers, number, recipient);
  const isKnown = isLid(recipient) && numbers.resolve(recipient)?.number.isHidden !== true;
  return isKnown && lidsNeedNumber;
}

const isLid = (address: string | undefined): boolean => parseUserAddress(address)?.addressing === 'lid';

function isNumberOf(numbers: Network['numbers'], address: string, lid: string): boolean {
  const namedNumber = numbers.resolve(address);
  return namedNumber?.addressing === 'pn' && namedNumber.number.phone === numbers.resolve(lid)?.number.phone;
}
