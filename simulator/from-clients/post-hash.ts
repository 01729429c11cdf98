import { createHash } from 'node:crypto';
import type { BinaryNode } from '@whiskeysockets/baileys';
import type { Group } from '../groups.ts';
import type { Network } from '../network.ts';
import { addressOf } from '../numbers.ts';
import { parseUserAddress } from '../socket/addresses.ts';

/**
 * Returns the hash of all devices in a group, the sender's device included. Undefined for a post without a `phash`.
 * (tulir/whatsmeow `participantListHashV2`, oxidezap/whatsapp-rust `participant_list_hash`.)
 */
export function postHash(network: Network, group: Group, { attrs }: BinaryNode): string | undefined {
  if (attrs.phash === undefined) return undefined;
  const members = group.participants.map((phone) => network.numbers.of(phone));
  const devices = members
    .filter(({ exists }) => exists)
    .flatMap((number) =>
      [0, ...network.companions.of(number.phone).map(({ device }) => device)].map((device) =>
        hashedForm(addressOf(number, group.addressing, device)),
      ),
    );
  const digest = createHash('sha256').update(devices.toSorted().join('')).digest();
  const hash = `2:${digest.subarray(0, 6).toString('base64')}`;
  if (hash !== attrs.phash) network.log({ event: 'a post to other devices', group: group.id });
  return hash;
}

/** Returns `user.0:device@server`, always with the device. */
function hashedForm(address: string): string {
  const { user = '', device = 0 } = parseUserAddress(address) ?? {};
  return `${user}.0:${device}${address.slice(address.indexOf('@'))}`;
}
