import { lidAddress } from './addresses.ts';
import { stanzaTime } from './clock.ts';
import type { Connection } from './connection.ts';
import type { Network } from './network.ts';
import type { ClientFinish } from './noise-responder.ts';
import { node, streamError } from './stanzas.ts';

/** Logs a companion in that proves the Noise key it paired with; any other gets 401. */
export function login(network: Network, connection: Connection, finish: ClientFinish): void {
  const phone = String(finish.payload.username ?? '');
  const companion = network.companions.get(phone, finish.payload.device ?? 0);
  if (!companion || companion.noiseKey !== finish.staticKey.toString('base64')) {
    refuse(connection, 401);
    return;
  }
  const fault = network.faults.takeLoginError(phone);
  if (fault !== undefined) {
    refuse(connection, fault);
    return;
  }
  // Two sockets on one identity: the newer one stays.
  network.connections
    .login(connection, companion)
    ?.endWith(streamError(undefined, node('conflict', { type: 'replaced' })));
  connection.send(
    node('success', { t: stanzaTime(network.clock), lid: lidAddress(companion.lid, companion.device) }),
  );
  network.log({ event: 'companion logged in', companion: companion.id });
}

function refuse(connection: Connection, reason: number): void {
  connection.endWith(node('failure', { reason: String(reason), location: 'sim' }));
}
