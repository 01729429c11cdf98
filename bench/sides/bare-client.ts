/**
 * The chat client alone, with the sockets of all phones in one thread. This is no gateway: nothing is durable, judged,
 * paced or acknowledged. It shows what the client itself costs on Node (bench/peers/real).
 */

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import {
  type AuthenticationCreds,
  BufferJSON,
  DEFAULT_CONNECTION_CONFIG,
  DisconnectReason,
  initAuthCreds,
  makeCacheableSignalKeyStore,
  makeWASocket,
  proto,
  type SignalDataSet,
  type SignalDataTypeMap,
  WA_CERT_DETAILS,
  type WASocket,
} from '@whiskeysockets/baileys';
import { quietLibsignal } from '../../simulator/handsets/quiet-libsignal.ts';
import { listening } from '../../tests/testbed/listening.ts';

/** A step that the measuring process asks for, as one line of JSON. */
export interface Step {
  readonly id: number;
  readonly kind: 'link' | 'look-up' | 'composing' | 'send' | 'keep';
  /** E.164, as `to`. */
  readonly phone: string;
  readonly to: string;
  readonly text: string;
}

/** A line of JSON to the measuring process: a code to scan, or that a step is done. */
export type Line =
  | { readonly qr: string; readonly phone: string }
  | { readonly id: number; readonly failed?: string };

/** The data that a phone's client needs to log in again. */
interface Kept {
  readonly creds: AuthenticationCreds;
  readonly values: readonly (readonly [key: string, value: unknown])[];
}

const { values: options } = parseArgs({
  options: {
    'chat-url': { type: 'string', default: '' },
    'root-key': { type: 'string', default: '' },
    directory: { type: 'string', default: '' },
  },
});
const logger = DEFAULT_CONNECTION_CONFIG.logger;
logger.level = 'silent';
WA_CERT_DETAILS.PUBLIC_KEY = Buffer.from(options['root-key'], 'base64');
quietLibsignal();

let control: Socket | undefined;
const say = (line: Line): void => void control?.write(`${JSON.stringify(line)}\n`);

/** The client of one phone, with its credentials and keys in memory. */
class Phone {
  readonly number: string;
  readonly opened: Promise<void>;
  readonly #creds: AuthenticationCreds;
  readonly #values: Map<string, unknown>;
  #socket: WASocket;
  #open: () => void = () => undefined;

  constructor(number: string, kept: Kept = { creds: initAuthCreds(), values: [] }) {
    this.number = number;
    this.#creds = kept.creds;
    this.#values = new Map(kept.values);
    this.opened = new Promise((resolve) => {
      this.#open = resolve;
    });
    this.#socket = this.#connect();
  }

  get socket(): WASocket {
    return this.#socket;
  }

  get kept(): Kept {
    return { creds: this.#creds, values: [...this.#values] };
  }

  #connect(): WASocket {
    const keys = makeCacheableSignalKeyStore({ get: this.#get, set: this.#set }, logger);
    const socket = makeWASocket({
      auth: { creds: this.#creds, keys },
      waWebSocketUrl: options['chat-url'],
      logger,
      markOnlineOnConnect: false,
      syncFullHistory: false,
    });
    socket.ev.on('connection.update', ({ connection, qr, lastDisconnect }) => {
      if (qr !== undefined) say({ qr, phone: this.number });
      if (connection === 'open') this.#open();
      if (connection !== 'close') return;
      const error = lastDisconnect?.error as (Error & { output?: { statusCode: number } }) | undefined;
      // The network ends the connection of a client that was just linked, and the client logs in.
      if (error?.output?.statusCode === DisconnectReason.restartRequired) this.#socket = this.#connect();
      else fail(`the connection of ${this.number} ended: ${error?.message}`);
    });
    return socket;
  }

  readonly #get = <Type extends keyof SignalDataTypeMap>(type: Type, ids: string[]) => {
    const found: Record<string, SignalDataTypeMap[Type]> = {};
    for (const id of ids) {
      const value = this.#values.get(`${type} ${id}`);
      if (value !== undefined) found[id] = value as SignalDataTypeMap[Type];
    }
    return found;
  };

  readonly #set = (data: SignalDataSet): void => {
    for (const [type, values] of Object.entries(data)) {
      for (const [id, value] of Object.entries(values ?? {})) {
        if (value === null || value === undefined) this.#values.delete(`${type} ${id}`);
        else this.#values.set(`${type} ${id}`, value);
      }
    }
  };
}

/** A bench with fewer clients than phones would measure something else. */
function fail(reason: string): never {
  console.error(reason);
  process.exit(1);
}

function readKept(path: string): Kept {
  const { creds, values } = JSON.parse(readFileSync(path, 'utf8'), BufferJSON.reviver) as Kept;
  const revived = values.map(([key, value]): [string, unknown] =>
    key.startsWith('app-state-sync-key ')
      ? [key, proto.Message.AppStateSyncKeyData.fromObject(value as object)]
      : [key, value],
  );
  return { creds, values: revived };
}

function phoneOf(number: string): Phone {
  const phone = phones.get(number);
  if (phone === undefined) throw new Error(`${number} is not linked`);
  return phone;
}

const addressOf = (number: string): string => `${number.slice(1)}@s.whatsapp.net`;

const steps: Readonly<Record<Step['kind'], (step: Step) => Promise<unknown>>> = {
  async link({ phone: number }) {
    const phone = new Phone(number);
    phones.set(number, phone);
    await phone.opened;
  },
  'look-up': async ({ phone, to }) => phoneOf(phone).socket.onWhatsApp(addressOf(to)),
  composing: async ({ phone, to }) => phoneOf(phone).socket.sendPresenceUpdate('composing', addressOf(to)),
  send: async ({ phone, to, text }) => phoneOf(phone).socket.sendMessage(addressOf(to), { text }),
  // Files are written only before the bench ends the process, so no figure has their cost.
  async keep() {
    for (const { number, kept } of phones.values())
      writeFileSync(join(options.directory, `${number}.json`), JSON.stringify(kept, BufferJSON.replacer));
  },
};

const phones = new Map<string, Phone>();
for (const name of readdirSync(options.directory)) {
  const number = basename(name, '.json');
  phones.set(number, new Phone(number, readKept(join(options.directory, name))));
}

const server = createServer((socket) => {
  control = socket.setNoDelay();
  createInterface({ input: socket }).on('line', (line) => {
    const step = JSON.parse(line) as Step;
    steps[step.kind](step).then(
      () => say({ id: step.id }),
      (error: unknown) => say({ id: step.id, failed: String(error) }),
    );
  });
});
const port = await listening(server);
process.stdout.write(`${JSON.stringify({ ready: true, api: `tcp://127.0.0.1:${port}` })}\n`);
