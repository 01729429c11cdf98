import { WebSocket } from 'ws';
import { createStore, type WaAuthCredentials, WaClient, type WaStore } from 'zapo-js';
import type { Simulator } from '../../simulator/simulator.ts';

/** How long an event may take on a slow machine before the test fails. */
const EVENT_MS = 30_000;

/** The parts that are read of the client's events. Its own types lose the payloads among overloads. */
interface Events {
  readonly auth_qr: { readonly qr: string };
  readonly connection_success: object;
  readonly client_error: { readonly error: Error };
  readonly stanza_unhandled: { readonly rawNode: { readonly tag: string }; readonly reason: string };
  readonly transport_node_out: { readonly node: { readonly tag: string } };
  readonly message: {
    readonly message?: {
      readonly conversation?: string | null;
      readonly extendedTextMessage?: {
        readonly text?: string | null;
        readonly contextInfo?: { readonly stanzaId?: string | null } | null;
      } | null;
    };
  };
}

/**
 * A chat client that shares no code with this project's: zapo-js has its own handshake, codec and Signal sessions.
 * It judges whether the simulator speaks what other clients of the real network expect.
 */
export class OtherClient {
  readonly client: WaClient;
  /** The texts that the client read, in order. */
  readonly texts: string[] = [];
  /** The ids of the stanzas that these texts quote, by text. */
  readonly quotes = new Map<string, string>();
  /** The kinds of all messages that the client read, as the protocol names them. */
  readonly fields: string[] = [];
  /** Complaints of the client: its own errors, and stanzas that it could not handle. */
  readonly problems: string[] = [];
  readonly #simulator: Simulator;
  readonly #store: WaStore;

  constructor(simulator: Simulator, store: WaStore = memoryStore()) {
    this.#simulator = simulator;
    this.#store = store;
    // The client takes the platform's socket, which Node 20 does not have.
    Object.assign(globalThis, { WebSocket });
    const publicKey = Buffer.from(simulator.noiseRootKey, 'base64').subarray(-32);
    this.client = new WaClient(
      {
        store,
        sessionId: 'other',
        chatSocketUrls: [simulator.chatUrl],
        testHooks: { noiseRootCa: { publicKey, serial: 0 } },
      },
      QUIET,
    );
    this.#on('message', ({ message }) => {
      const text = message?.conversation ?? message?.extendedTextMessage?.text;
      if (text) this.texts.push(text);
      const quoted = message?.extendedTextMessage?.contextInfo?.stanzaId;
      if (text && quoted) this.quotes.set(text, quoted);
      const field = Object.entries(message ?? {}).find(
        ([name, value]) => value != null && name !== 'messageContextInfo',
      );
      if (field !== undefined) this.fields.push(field[0]);
    });
    this.#on('client_error', ({ error }) => {
      this.problems.push(error.message);
    });
    this.#on('stanza_unhandled', ({ rawNode, reason }) => {
      // The client has no use for the server's acknowledgements of its receipts.
      if (rawNode.tag !== 'ack') this.problems.push(`${rawNode.tag}: ${reason}`);
    });
  }

  /** Links the client to a phone by a QR code, and resolves once it is logged in. */
  async link(scan: (qr: string) => Promise<unknown>): Promise<void> {
    const code = this.#next('auth_qr');
    const loggedIn = this.#next('connection_success');
    await this.client.connect();
    await scan((await code).qr);
    await loggedIn;
  }

  /** Logs in with the stored credentials. */
  async open(): Promise<void> {
    const loggedIn = this.#next('connection_success');
    await this.client.connect();
    await loggedIn;
  }

  /** Resolves once the client has read this text. */
  async reads(text: string): Promise<void> {
    while (!this.texts.includes(text)) await this.#next('message');
  }

  /** A client with these credentials and keys, as after a restart of its process. */
  again(): OtherClient {
    return new OtherClient(this.#simulator, this.#store);
  }

  /** Resolves once a stanza with this tag leaves. */
  async sends(tag: string): Promise<void> {
    for (;;) {
      const { node } = await this.#next('transport_node_out');
      if (node.tag === tag) return;
    }
  }

  #on<Name extends keyof Events>(name: Name, listener: (payload: Events[Name]) => void): void {
    const emitter: NodeJS.EventEmitter = this.client;
    emitter.on(name, listener);
  }

  #next<Name extends keyof Events>(name: Name): Promise<Events[Name]> {
    return new Promise((resolve, reject) => {
      const failed = () => reject(new Error(`no event ${name}; problems: ${this.problems.join('; ')}`));
      const timer = setTimeout(failed, EVENT_MS);
      const emitter: NodeJS.EventEmitter = this.client;
      emitter.once(name, (payload: Events[Name]) => {
        clearTimeout(timer);
        resolve(payload);
      });
    });
  }
}

function memoryStore(): WaStore {
  let credentials: WaAuthCredentials | null = null;
  const auth = {
    load: async () => credentials,
    save: async (saved: WaAuthCredentials) => {
      credentials = saved;
    },
    clear: async () => {
      credentials = null;
    },
  };
  return createStore({
    providers: { auth: 'own', messages: 'memory' },
    cacheProviders: {
      retry: 'memory',
      participants: 'memory',
      deviceList: 'memory',
      messageSecret: 'memory',
    },
    // Only `auth` is read of a backend whose other domains have a provider in memory.
    backends: { own: { stores: { auth: () => auth }, caches: {} } as never },
  });
}

const nothing = () => undefined;
const QUIET = {
  level: 'error',
  trace: nothing,
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
} as const;
