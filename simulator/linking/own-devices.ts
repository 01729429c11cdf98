import type { BinaryNode } from '@whiskeysockets/baileys';
import { stanzaTime } from '../clock.ts';
import type { Network } from '../network.ts';
import { phoneAddress } from '../socket/addresses.ts';
import { node } from '../socket/stanzas.ts';

/** Returns the list of a number's devices, as a notification about it has it. */
export function ownDevices(network: Network, phone: string): BinaryNode {
  const companions = network.companions.of(phone);
  const devices = [0, ...companions.map(({ device }) => device)];
  return node(
    'devices',
    { dhash: '2:own' },
    devices.map((device) => node('device', { jid: phoneAddress(phone, device) })),
  );
}

/** Notifies a number's companions, without `changedId`, that one was linked or unlinked. */
export function notifyOwnDevices(
  network: Network,
  { phone, id: changedId }: { readonly phone: string; readonly id: string },
): void {
  for (const { id } of network.companions.of(phone)) {
    if (id === changedId) continue;
    const attrs = { id: network.newId(), type: 'account_sync', from: phoneAddress(phone) };
    const stanza = node('notification', { ...attrs, t: stanzaTime(network.clock) }, [
      ownDevices(network, phone),
    ]);
    network.notices.add(id, stanza);
  }
}
