import type { Network } from '../network.ts';
import { node, streamError } from '../socket/stanzas.ts';
import type { Companion } from './companions.ts';
import { notifyOwnDevices } from './own-devices.ts';

/** Unlinks a companion. Its live connection ends with 401, and so does its next login. */
export function unlink(network: Network, companion: Companion): void {
  network.companions.remove(companion);
  network.deliveries.forget(companion.id);
  network.notices.forget(companion.id);
  network.connections
    .of(companion.id)
    ?.endWith(streamError(401, node('conflict', { type: 'device_removed' })));
  notifyOwnDevices(network, companion);
  network.log({ event: 'companion unlinked', companion: companion.id });
}
