import {
  type BinaryNode,
  type Contact,
  getAllBinaryNodeChildren,
  getBinaryNodeChild,
  getBinaryNodeChildren,
  type WASocket,
} from '@whiskeysockets/baileys';
import type { ShopMemory } from '../shared/session-environment.ts';
import { userOf } from '../wire/chat-address.ts';
import { ownDevice } from './device-sessions.ts';

/**
 * Forgets the devices of a person when the network reports that they changed, so that the next message asks for them.
 * Devices are kept under the person's number and under the network's own id. The client itself changes only the address
 * by which the report names a device, and nothing if the report names no device.
 */
export function followDevices({ ws }: Pick<WASocket, 'ws'>, { devices }: Pick<ShopMemory, 'devices'>): void {
  ws.on('CB:notification,type:devices', (notification: BinaryNode) => {
    const changes = getAllBinaryNodeChildren(notification);
    const namedNodes = [
      notification,
      ...changes.flatMap((change) => getBinaryNodeChildren(change, 'device')),
    ];
    const addresses = namedNodes.flatMap(({ attrs: { from, jid, lid } }) => [from, jid, lid]);
    for (const address of addresses) if (address !== undefined) devices.del(userOf(address));
  });
}

/** Makes the next message request the shop's own devices if the network reports that they changed. */
export function followOwnDevices(
  { ws }: Pick<WASocket, 'ws'>,
  { devices }: Pick<ShopMemory, 'devices'>,
  readOwnContact: () => Contact | undefined,
): void {
  ws.on('CB:notification,type:account_sync', (stanza: BinaryNode) => {
    if (getBinaryNodeChild(stanza, 'devices') === undefined) return;
    for (const address of ownDevice(readOwnContact())) devices.del(userOf(address));
  });
}
