/** Notifications about devices, identities and the account itself. README.md names the sources. */
import type { BinaryNode } from '@whiskeysockets/baileys';
import { stanzaTime } from '../clock.ts';
import { ControlFailure } from '../control/control-failure.ts';
import { type Companion, numberOf } from '../linking/companions.ts';
import { ownDevices } from '../linking/own-devices.ts';
import { unlink } from '../linking/unlinking.ts';
import type { Network } from '../network.ts';
import { addressOf, type PhoneNumber } from '../numbers.ts';
import { lidAddress, phoneAddress } from '../socket/addresses.ts';
import { node } from '../socket/stanzas.ts';
import { signedKeyIndexList } from './key-index-list.ts';

/** About a contact: its devices, or a phone that was set up again. */
export const CONTACT_NOTICES = ['devices_added', 'devices_removed', 'devices_updated', 'identity'] as const;
/** About the number's own account. */
export const OWN_NOTICES = ['own_devices', 'disappearing_mode', 'blocklist', 'unknown_setting'] as const;

export type NoticeKind = (typeof CONTACT_NOTICES)[number] | (typeof OWN_NOTICES)[number];

/** The device that a notification about a contact's devices names. */
const DEVICE = 7;

/** Notifies all companions of a number, and returns the notifications' ids. `from`: the contact that it is about. */
export function notify(
  network: Network,
  { phone, kind, from }: { readonly phone: string; readonly kind: NoticeKind; readonly from: string },
): string[] {
  const companions = network.companions.of(phone);
  if (companions.length === 0)
    throw new ControlFailure(409, 'NO_COMPANION', 'No client is linked that could be notified.');
  if (kind === 'identity') setUpAnew(network, from);
  return companions.map((companion) => {
    const id = network.newId();
    const subject = from === '' ? numberOf(companion) : network.numbers.of(from);
    const { type, content } = bodyOf(network, { kind, about: subject, companion });
    const attrs = { id, type, from: addressOf(subject, 'pn'), t: stanzaTime(network.clock) };
    const isDevices = type === 'devices';
    const lid = isDevices ? { lid: addressOf(subject, 'lid') } : {};
    network.notices.add(companion.id, node('notification', { ...attrs, ...lid }, content));
    return id;
  });
}

/** A phone that is set up again has other keys, and its linked clients are unlinked. */
function setUpAnew(network: Network, phone: string): void {
  for (const companion of network.companions.of(phone)) unlink(network, companion);
  network.handsets.renew(phone);
}

function bodyOf(
  network: Network,
  { kind, about, companion }: { kind: NoticeKind; about: PhoneNumber; companion: Companion },
): { readonly type: string; readonly content: BinaryNode[] } {
  const device = node('device', {
    jid: phoneAddress(about.phone, DEVICE),
    lid: lidAddress(about.lid, DEVICE),
    'key-index': String(DEVICE),
  });
  switch (kind) {
    case 'devices_added': {
      const devices = network.companions.of(about.phone).map((companion) => companion.device);
      const list = signedKeyIndexList(network, about.phone, [...devices, DEVICE]);
      return { type: 'devices', content: [node('add', { device_hash: '2:added' }, [device, list])] };
    }
    case 'devices_removed': {
      const list = node('key-index-list', { ts: stanzaTime(network.clock) });
      return { type: 'devices', content: [node('remove', { device_hash: '2:removed' }, [device, list])] };
    }
    case 'devices_updated':
      return { type: 'devices', content: [node('update', { hash: 'abcd' })] };
    case 'identity':
      return { type: 'encrypt', content: [node('identity', {})] };
    case 'own_devices':
      return { type: 'account_sync', content: [ownDevices(network, companion.phone)] };
    case 'disappearing_mode':
      return {
        type: 'account_sync',
        content: [node('disappearing_mode', { duration: '86400', t: stanzaTime(network.clock) })],
      };
    case 'blocklist':
      return { type: 'account_sync', content: [node('blocklist', { action: 'modify' })] };
    case 'unknown_setting':
      return { type: 'account_sync', content: [] };
  }
}
