import { startBaileysHost } from '../actors/session/main-thread/baileys-host.ts';
import type { SessionHost, SessionListener } from '../actors/session/session-host.ts';
import type { SessionTiming } from '../actors/session/session-timing.ts';
import { systemClock as clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import type { RuntimeNode } from '../runtime/node/node.ts';
import { systemRandom as random } from '../runtime/random.ts';
import type { ServiceEnvironment } from './environment.ts';

const REAL_NETWORK_URL = 'wss://web.whatsapp.com/ws/chat';

/** Starts the sending component with the settings of the environment, on the real network or a simulated one. */
export function startSessions(parts: {
  readonly environment: ServiceEnvironment;
  readonly node: RuntimeNode;
  readonly log: Logger;
  readonly listener: SessionListener;
  /** Waits that differ from production's: for benches. */
  readonly timing?: Partial<SessionTiming>;
}): SessionHost {
  const { environment, node, log, listener, timing } = parts;
  const simulated = environment.noiseRootKey !== undefined;
  const socketUrl = environment.chatNetworkUrl ?? REAL_NETWORK_URL;
  if (simulated) log.warn({ socketUrl }, 'the chat network is simulated: no message leaves this machine');
  return startBaileysHost({
    store: node.store,
    clock,
    random,
    log,
    listener,
    credentialsKeys: environment.credentialsKeys,
    socketUrl,
    noiseRootKey: environment.noiseRootKey,
    clientVersion: environment.clientVersion,
    workers: environment.sessionWorkers,
    media: { allowLoopback: simulated, ...environment.media },
    timing,
  });
}
