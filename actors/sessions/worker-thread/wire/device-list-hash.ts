import { createHash } from 'node:crypto';
import { jidDecode } from '@whiskeysockets/baileys';

/**
 * Returns the hash by which a post tells the network which devices it is for (`phash`; tulir/whatsmeow
 * `participantListHashV2`). The order of the addresses makes no difference.
 */
export function deviceListHash(addresses: Iterable<string>): string {
  const devices = [...new Set([...addresses].map(hashedForm))].toSorted();
  const digest = createHash('sha256').update(devices.join('')).digest();
  return `2:${digest.subarray(0, 6).toString('base64')}`;
}

/** The address with an agent, which is 0 in all cases, and with the device. */
function hashedForm(address: string): string {
  const { user = '', device = 0, server = '' } = jidDecode(address) ?? {};
  return `${user}.0:${device}@${server}`;
}
