import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { MovableClock, processClock, type SimulatorClock } from './clock.ts';
import { controlRoutes } from './control/control-routes.ts';
import { controlListener } from './control/control-server.ts';
import { Faults } from './control/faults.ts';
import { Groups } from './groups.ts';
import { Handsets } from './handsets/handsets.ts';
import { EntryLog, type InboxEntry, type StatusEntry } from './handsets/inboxes.ts';
import { quietLibsignal } from './handsets/quiet-libsignal.ts';
import { Journal } from './journal.ts';
import { NumberLimits } from './limits/number-limits.ts';
import { Companions } from './linking/companions.ts';
import { mediaCertificate } from './media/media-certificate.ts';
import { MediaHost } from './media/media-host.ts';
import { DEFAULT_TIMINGS, type Network, type NetworkTimings, type SimulatorEvent } from './network.ts';
import { Numbers } from './numbers.ts';
import { ClientVersions } from './queries/client-versions.ts';
import { CHAT_PATH, ChatServer } from './socket/chat-server.ts';
import { Connections } from './socket/connections.ts';
import { serverCloser } from './socket/server-closer.ts';
import { serverIdentity } from './socket/server-identity.ts';
import { Deliveries } from './to-clients/deliveries.ts';
import { Notices } from './to-clients/notices.ts';
import { OfflineHandsets, PhoneCopies, RetryCounts, SendCounts } from './unstored-state.ts';

export interface SimulatorOptions extends Partial<NetworkTimings> {
  /** The port of the control API and the chat socket. With 0 the system chooses one. */
  readonly port: number;
  /**
   * The address to listen on: 127.0.0.1 (the default), ::1 or localhost. 0.0.0.0 is for a container whose ports are
   * published on the loopback of its machine. The simulator asks for no password.
   */
  readonly host?: string;
  /** The directory of all its data, created if missing. Only one simulator at a time can use it. */
  readonly dataDir: string;
  /** The port of the attachments' https host. By default the system chooses one. */
  readonly mediaPort?: number;
  /**
   * The least number of one-time keys that the server claims to have of a client. With 0 (the default, and the real
   * network) a new client uploads 812. With 1 it uploads five.
   */
  readonly claimedPreKeys?: number;
  /**
   * If true (the default), a message to a LID that does not name the number is refused. Clients that leave the number
   * out are in use on the real network. A test of such a client turns this off.
   */
  readonly lidsNeedNumber?: boolean;
  readonly clock?: SimulatorClock;
  /** Randomness for stanza ids, in [0, 1). By default the system's. */
  readonly random?: () => number;
  /** Called with each line of the log. A line never has message texts or keys. By default nothing is logged. */
  readonly log?: (event: SimulatorEvent) => void;
}

/** A running simulator. */
export interface Simulator {
  /** The address of the control API: `http://127.0.0.1:port`. */
  readonly url: string;
  /** The address of the chat socket: `ws://127.0.0.1:port/ws/chat`. */
  readonly chatUrl: string;
  /** Base64 of the key that a client must trust: `WA_CERT_DETAILS.PUBLIC_KEY`. */
  readonly noiseRootKey: string;
  readonly port: number;
  /** Cuts every connection, writes what is left and frees the ports. */
  close(): Promise<void>;
}

/** Any other address is refused, because anyone who reaches the simulator can read and change everything. */
const HOSTS = new Set(['127.0.0.1', '::1', 'localhost', '0.0.0.0']);

/**
 * Starts the chat network with everything that `dataDir` keeps from earlier runs. Throws if the host is not allowed,
 * the port is taken, or the data directory cannot be read.
 */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const host = options.host ?? '127.0.0.1';
  if (!HOSTS.has(host))
    throw new Error(`the simulator listens on loopback, or in a container on 0.0.0.0, not on ${host}`);
  quietLibsignal();
  const server = createServer();
  // The server never closes idle connections, because a busy caller's next request could meet one that is closing.
  server.keepAliveTimeout = 0;
  const closeServer = serverCloser(server);
  let journal: Journal | undefined;
  let media: MediaHost | undefined;
  let closing: Promise<void> | undefined;
  try {
    journal = await Journal.open(options.dataDir);
    const identity = serverIdentity(journal);
    media = await MediaHost.start({
      directory: join(options.dataDir, 'media'),
      certificate: mediaCertificate(journal),
      listensOn: host,
      hostname: reachedAt(host),
      port: options.mediaPort ?? 0,
    });
    const network = createNetwork(options, journal, media);
    const chat = new ChatServer({ network, identity, server });
    const { pairing, codePairing } = chat;
    const routes = controlRoutes({ network, pairing, codePairing, noiseRootKey: identity.rootKey });
    const control = controlListener({
      routes,
      settled: () => network.journal.settled(),
      report: (error) => network.log({ event: 'control call failed', reason: String(error) }),
    });
    server.on('request', (request, response) => {
      if (!network.versions.answer(request, response)) control(request, response);
    });
    await listen(server, options.port, host);
    const { port } = server.address() as AddressInfo;
    const authority = `${reachedAt(host)}:${port}`;
    return {
      url: `http://${authority}`,
      chatUrl: `ws://${authority}${CHAT_PATH}`,
      noiseRootKey: identity.rootKey,
      port,
      close: () => {
        closing ??= Promise.all([closeServer(), network.media.close()]).then(() => network.journal.close());
        return closing;
      },
    };
  } catch (error) {
    await media?.close();
    await journal?.close();
    throw error;
  }
}

function createNetwork(options: SimulatorOptions, journal: Journal, media: MediaHost): Network {
  const connections = new Connections();
  const notices = new Notices(journal, connections);
  const { random, log } = options;
  const clock = new MovableClock(options.clock ?? processClock);
  return {
    timings: { ...DEFAULT_TIMINGS, ...options },
    claimedPreKeys: options.claimedPreKeys ?? 0,
    lidsNeedNumber: options.lidsNeedNumber ?? true,
    clock,
    journal,
    numbers: new Numbers(journal),
    handsets: new Handsets(journal),
    companions: new Companions(journal),
    connections,
    inboxes: new EntryLog<InboxEntry>(journal, 'inboxes'),
    statuses: new EntryLog<StatusEntry>(journal, 'statuses'),
    groups: new Groups(journal),
    deliveries: new Deliveries(journal, connections, notices),
    retries: new RetryCounts(),
    sendCounts: new SendCounts(),
    notices,
    limits: new NumberLimits(journal, clock),
    copies: new PhoneCopies(),
    offline: new OfflineHandsets(),
    composing: new Set(),
    faults: new Faults(),
    versions: new ClientVersions(),
    media,
    newId: () => {
      const bytes = random
        ? Buffer.from(Array.from({ length: 10 }, () => Math.floor(random() * 256)))
        : randomBytes(10);
      return `3A${bytes.toString('hex').toUpperCase()}`;
    },
    log: (event) => log?.(event),
  };
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const isTaken = error.code === 'EADDRINUSE';
      reject(isTaken ? new Error(`port ${port} on ${host} is taken; is another simulator running?`) : error);
    });
    server.listen(port, host, resolve);
  });
}

/**
 * Returns the host for a URL. A simulator that listens everywhere is reached by loopback, also if a container publishes
 * its ports there.
 */
function reachedAt(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}
