import type { Companion } from './companions.ts';
import type { Network } from './network.ts';
import { node, streamError } from './stanzas.ts';

/** Takes a companion off its phone: a live connection hears 401, the next login fails with it. */
export function unlink(network: Network, companion: Companion): void {
  network.companions.remove(companion);
  network.deliveries.forget(companion.id);
  network.connections
    .of(companion.id)
    ?.endWith(streamError(401, node('conflict', { type: 'device_removed' })));
  network.log({ event: 'companion unlinked', companion: companion.id });
}
