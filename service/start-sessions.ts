import { AddressGuard } from '../actors/outbound/address-guard.ts';
import { nameLookup } from '../actors/outbound/name-lookup.ts';
import { askRevision, revisionPage } from '../actors/outbound/revision-page.ts';
import { BaileysHost } from '../actors/sessions/main-thread/baileys-host.ts';
import type { BaileysHostOptions } from '../actors/sessions/main-thread/baileys-host-options.ts';
import type { SessionHost, SessionListener } from '../actors/sessions/session-host.ts';
import type { SessionTiming } from '../actors/sessions/session-timing.ts';
import type { MediaAccess } from '../actors/sessions/worker-protocol.ts';
import { systemClock as clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import type { RuntimeNode } from '../runtime/node/node.ts';
import { systemRandom as random } from '../runtime/random.ts';
import type { ServiceEnvironment } from './environment.ts';

const REAL_NETWORK_URL = 'wss://web.whatsapp.com/ws/chat';

/** Starts the sending component with the settings of the environment, on the real network or a simulated one. */
export function startSessions(options: {
  readonly environment: ServiceEnvironment;
  readonly node: RuntimeNode;
  readonly log: Logger;
  readonly listener: SessionListener;
  /** Waits that differ from production's: for benches. */
  readonly timing?: Partial<SessionTiming>;
}): SessionHost {
  const { environment, node, log, listener, timing } = options;
  const isSimulated = environment.noiseRootKey !== undefined;
  const socketUrl = environment.chatNetworkUrl ?? REAL_NETWORK_URL;
  if (isSimulated) log.warn({ socketUrl }, 'the chat network is simulated: no message leaves this machine');
  const media = { allowLoopback: isSimulated, ...environment.media };
  return new BaileysHost({
    store: node.store,
    clock,
    random,
    log,
    listener,
    credentialsKeys: environment.credentialsKeys,
    socketUrl,
    noiseRootKey: environment.noiseRootKey,
    deviceName: environment.platformName,
    ...versionOf(environment.clientVersion, socketUrl, media),
    workers: environment.sessionWorkers,
    media,
    timing,
  });
}

/** Returns the version that clients report: one that is set, the network's newest, or none for the client's own. */
function versionOf(
  version: ServiceEnvironment['clientVersion'],
  socketUrl: string,
  media: MediaAccess,
): Pick<BaileysHostOptions, 'clientVersion' | 'askRevision'> {
  if (version !== 'latest') return { clientVersion: version };
  const bounds = { guard: new AddressGuard(media), resolve: nameLookup(media.nameServers) };
  return { askRevision: (signal) => askRevision(revisionPage(socketUrl), { ...bounds, signal }) };
}
