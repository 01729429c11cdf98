import { once } from 'node:events';
import { Agent } from 'node:https';
import {
  type AnyMessageContent,
  type AuthenticationCreds,
  type BaileysEventMap,
  type BinaryNode,
  type ConnectionState,
  generateWAMessage,
  initAuthCreds,
  makeWASocket,
  type SignalDataSet,
  type SignalDataTypeMap,
  type UserFacingSocketConfig,
  WA_CERT_DETAILS,
  type WAMessage,
  type WASocket,
} from '@whiskeysockets/baileys';
import type { WebSocket } from 'ws';
import { MINUTE_MS } from '../../runtime/durations.ts';
import { quietLibsignal } from '../../simulator/handsets/quiet-libsignal.ts';
import type { Simulator } from '../../simulator/simulator.ts';

/** How long a test waits for an event before it fails. */
const TIMEOUT_MS = MINUTE_MS;

/** The data that a client keeps between connections, in memory. */
export class MemoryAuth {
  readonly creds: AuthenticationCreds = initAuthCreds();
  #values = new Map<string, string>();

  readonly keys = {
    get: async <Type extends keyof SignalDataTypeMap>(type: Type, ids: string[]) => {
      const found: Record<string, SignalDataTypeMap[Type]> = {};
      for (const id of ids) {
        const value = this.#values.get(`${type} ${id}`);
        if (value !== undefined) found[id] = JSON.parse(value, reviveBuffers) as SignalDataTypeMap[Type];
      }
      return found;
    },
    set: async (data: SignalDataSet) => {
      for (const [type, values] of Object.entries(data)) {
        for (const [id, value] of Object.entries(values ?? {})) {
          if (value === null || value === undefined) this.#values.delete(`${type} ${id}`);
          else this.#values.set(`${type} ${id}`, JSON.stringify(value, replaceBuffers));
        }
      }
    },
  };

  /** The ids kept of one type. */
  idsOf(type: keyof SignalDataTypeMap): string[] {
    return [...this.#values.keys()].flatMap((key) =>
      key.startsWith(`${type} `) ? key.slice(type.length + 1) : [],
    );
  }

  /** Goes back to the keys of an earlier moment, as a client does that died before it wrote. */
  snapshot(): () => void {
    const values = new Map(this.#values);
    return () => {
      this.#values = values;
    };
  }
}

function replaceBuffers(this: Record<string, unknown>, key: string, value: unknown): unknown {
  const raw = this[key];
  return raw instanceof Uint8Array ? { $bytes: Buffer.from(raw).toString('base64') } : value;
}

const reviveBuffers = (_key: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && '$bytes' in value
    ? Buffer.from(String(value.$bytes), 'base64')
    : value;

/** One connection of the unmodified client to a simulator. */
export class TestClient {
  readonly socket: WASocket;
  readonly auth: MemoryAuth;
  readonly updates: Partial<ConnectionState>[] = [];
  readonly messages: WAMessage[] = [];
  readonly stanzas: BinaryNode[] = [];
  readonly #simulator: Simulator;
  #wake: (() => void)[] = [];

  constructor(simulator: Simulator, auth = new MemoryAuth(), config: Partial<UserFacingSocketConfig> = {}) {
    prepareProcess();
    WA_CERT_DETAILS.PUBLIC_KEY = Buffer.from(simulator.noiseRootKey, 'base64');
    this.auth = auth;
    this.#simulator = simulator;
    this.socket = makeWASocket({
      auth,
      waWebSocketUrl: simulator.chatUrl,
      logger: quietLogger,
      shouldSyncHistoryMessage: () => false,
      markOnlineOnConnect: false,
      connectTimeoutMs: TIMEOUT_MS,
      defaultQueryTimeoutMs: TIMEOUT_MS,
      ...config,
    });
    this.on('creds.update', (update) => void Object.assign(auth.creds, update));
    this.on('connection.update', (update) => void this.updates.push(update));
    this.on('messages.upsert', ({ messages }) => void this.messages.push(...messages));
    (this.socket.ws as unknown as NodeJS.EventEmitter).on('frame', (stanza: BinaryNode | Uint8Array) => {
      if (!(stanza instanceof Uint8Array)) this.stanzas.push(stanza);
      this.#markDirty();
    });
  }

  on<Name extends keyof BaileysEventMap>(name: Name, listener: (event: BaileysEventMap[Name]) => void): void {
    this.socket.ev.on(name, (event) => {
      listener(event);
      this.#markDirty();
    });
  }

  /** Resolves with the first truthy answer; asks again after every event of this client's. */
  async until<Found>(
    title: string,
    find: () => Found | undefined | false | Promise<Found | undefined | false>,
  ): Promise<Found> {
    const deadline = Date.now() + TIMEOUT_MS;
    for (;;) {
      const dirty = new Promise<void>((resolve) => this.#wake.push(resolve));
      const found = await find();
      if (found) return found;
      const left = deadline - Date.now();
      if (left <= 0) throw new Error(`waited in vain for ${title}`);
      const timer = setTimeout(() => this.#markDirty(), left);
      await dirty;
      clearTimeout(timer);
    }
  }

  /** Resolves once the client reports that it is open. Rejects if it closes instead. */
  opened(): Promise<true> {
    return this.until('open', () => {
      const said = this.updates.findLast(({ connection }) => connection === 'open' || connection === 'close');
      if (said?.connection === 'close') throw said.lastDisconnect?.error ?? new Error('closed');
      return said !== undefined;
    });
  }

  /** Resolves with the code the client gives for its end. */
  closed(): Promise<number> {
    return this.until('close', () => {
      const update = this.updates.find(({ connection }) => connection === 'close');
      const error = update?.lastDisconnect?.error as { output?: { statusCode: number } } | undefined;
      return update && (error?.output?.statusCode ?? -1);
    });
  }

  /** The newest QR code. */
  qr(): Promise<string> {
    return this.until('qr', () => this.updates.findLast(({ qr }) => qr)?.qr);
  }

  /** Resolves with the ack of a message. */
  ack(messageId: string): Promise<BinaryNode> {
    return this.until(`ack of ${messageId}`, () =>
      this.stanzas.find(
        ({ tag, attrs }) => tag === 'ack' && attrs.class === 'message' && attrs.id === messageId,
      ),
    );
  }

  /** Resolves with the inbound message of that text. */
  received(text: string): Promise<WAMessage> {
    return this.until(`message ${text}`, () =>
      this.messages.find(
        ({ message }) => (message?.conversation || message?.extendedTextMessage?.text) === text,
      ),
    );
  }

  /** Connects again with what this client kept. */
  again(config: Partial<UserFacingSocketConfig> = {}): TestClient {
    return new TestClient(this.#simulator, this.auth, config);
  }

  /** Ends the connection and waits until it is gone. */
  async end(): Promise<void> {
    if (this.updates.some(({ connection }) => connection === 'close')) return;
    await this.socket.end(undefined);
  }

  /** Cuts the client's own socket, as a killed process does. */
  async kill(): Promise<void> {
    const gone = once(this.#raw, 'close');
    this.#raw.terminate();
    await gone;
  }

  /** From now on the client's socket is cut at the first thing it would send. */
  dieInsteadOfSending(): void {
    const rawSocket = this.#raw;
    rawSocket.send = () => rawSocket.terminate();
  }

  get #raw(): WebSocket {
    return (this.socket.ws as unknown as { socket: WebSocket }).socket;
  }

  /** Posts a status to people by the network's own ids, as a web client does; resolves with the stanza's id. */
  async post(content: AnyMessageContent, statusJidList: string[]): Promise<string> {
    const { socket } = this;
    const { key, message } = await generateWAMessage('status@broadcast', content, {
      logger: quietLogger,
      userJid: socket.user?.id ?? '',
      upload: socket.waUploadToServer,
    });
    await socket.relayMessage('status@broadcast', message ?? {}, {
      messageId: key.id ?? '',
      statusJidList,
      additionalNodes: [{ tag: 'meta', attrs: { status_setting: 'contacts' } }],
    });
    return key.id ?? '';
  }

  /** The network's own ids of numbers. */
  async lidsOf(phones: readonly string[]): Promise<string[]> {
    const numbers = phones.map((phone) => `${phone.slice(1)}@s.whatsapp.net`);
    const pairs = await this.socket.signalRepository.lidMapping.getLIDsForPNs(numbers);
    return (pairs ?? []).map(({ lid }) => lid);
  }

  #markDirty(): void {
    const wake = this.#wake;
    this.#wake = [];
    for (const resolve of wake) resolve();
  }
}

/** Links a new client to a phone and resolves with it open. */
export async function linkedClient(
  simulator: Simulator,
  scan: (qr: string) => Promise<unknown>,
  config: Partial<UserFacingSocketConfig> = {},
): Promise<TestClient> {
  const registering = new TestClient(simulator, new MemoryAuth(), config);
  const qr = await registering.qr();
  await scan(qr);
  await registering.closed();
  const client = registering.again(config);
  await client.opened();
  return client;
}

/** An agent that trusts the simulator's attachments host. */
export const trusting = (ca: string): Agent => new Agent({ ca });

/** Timers at least this long belong to the client; the tests' own are shorter. */
const LONG_TIMER_MS = 1_000;

let prepared = false;

/**
 * The client prints its sessions, and leaves timers of its uploads and queries running when it ends, which would hold
 * the test process.
 */
function prepareProcess(): void {
  if (prepared) return;
  prepared = true;
  quietLibsignal();
  const original = globalThis.setTimeout;
  const patched = (
    callback: (...values: unknown[]) => void,
    delayMs?: number,
    ...rest: unknown[]
  ): NodeJS.Timeout => {
    const timer = original(callback, delayMs, ...rest);
    if ((delayMs ?? 0) >= LONG_TIMER_MS) timer.unref();
    return timer;
  };
  globalThis.setTimeout = Object.assign(patched, original) as typeof setTimeout;
}

const silence = (): void => undefined;

const quietLogger = {
  level: 'silent',
  child: () => quietLogger,
  trace: silence,
  debug: silence,
  info: silence,
  warn: silence,
  error: silence,
};
