import {
  type AuthenticationCreds,
  BufferJSON,
  initAuthCreds,
  proto,
  type SignalDataSet,
  type SignalDataTypeMap,
  type SignalKeyStore,
} from '@whiskeysockets/baileys';
import { Unreadable } from '../credential-cipher.ts';
import type { Carry, SealedStore } from './sealed-store.ts';

const CREDS = 'creds';
const PAIRED_AT = 'pairedAtMs';

/** A shop's identity on the network and its Signal keys, kept in its sealed store. */
export interface Credentials {
  readonly creds: AuthenticationCreds;
  readonly keys: SignalKeyStore;
  /** Keys that somebody else is to store, in one commit with something of theirs. */
  carried(data: SignalDataSet, carry: Carry): Promise<void>;
  /** When these credentials were paired; undefined before the pairing. */
  pairedAtMs(): number | undefined;
  /** Stores the identity as it stands now. Before a pairing there is nothing to keep; the pairing clears what was left of an older one. */
  save(nowMs: number): Promise<void>;
}

/** Reads a shop's credentials, or makes new ones where none are stored. Rejects with `Unreadable` rather than replace what it cannot read. */
export async function loadCredentials(sealed: SealedStore): Promise<Credentials> {
  const [stored, pairedAt] = await sealed.read('credentials', [CREDS, PAIRED_AT]);
  const creds = stored === undefined ? initAuthCreds() : (decode(sealed, stored) as AuthenticationCreds);
  // Of a pairing whose identity is gone, the time says nothing.
  let pairedAtMs = stored === undefined || pairedAt === undefined ? undefined : Number(pairedAt.toString());
  return {
    creds,
    keys: signalKeys(sealed),
    carried: (data, carry) => sealed.carried({ hash: 'credentials', fields: fieldsOf(data) }, carry),
    pairedAtMs: () => pairedAtMs,
    async save(nowMs) {
      if (creds.me === undefined) return;
      const fields = new Map<string, Buffer | undefined>([[CREDS, encode(creds)]]);
      const isPairing = pairedAtMs === undefined;
      pairedAtMs ??= nowMs;
      if (isPairing) fields.set(PAIRED_AT, Buffer.from(String(pairedAtMs)));
      await sealed.write({ hash: 'credentials', fields, clear: isPairing });
    },
  };
}

/**
 * What the network tells again when it is asked: nobody needs to wait until it stands in the store. A write that fails
 * ends the session all the same.
 */
const FACTS = new Set(['lid-mapping', 'device-list']);

/** The Signal keys of one shop. Each batch stands in one fenced write, alone or with others. */
function signalKeys(sealed: SealedStore): SignalKeyStore {
  return {
    async get<T extends keyof SignalDataTypeMap>(type: T, ids: string[]) {
      const values = await sealed.read(
        'credentials',
        ids.map((id) => fieldOf(type, id)),
      );
      const found: { [id: string]: SignalDataTypeMap[T] } = {};
      for (const [index, id] of ids.entries()) {
        const value = values[index];
        if (value !== undefined) found[id] = revive(type, decode(sealed, value));
      }
      return found;
    },
    async set(data: SignalDataSet) {
      const written = sealed.write({ hash: 'credentials', fields: fieldsOf(data) });
      if (Object.keys(data).every((type) => FACTS.has(type))) written.catch(() => undefined);
      else await written;
    },
  };
}

function fieldsOf(data: SignalDataSet): Map<string, Buffer | undefined> {
  const fields = new Map<string, Buffer | undefined>();
  for (const [type, entries] of Object.entries(data)) {
    for (const [id, value] of Object.entries(entries ?? {})) {
      fields.set(fieldOf(type, id), value == null ? undefined : encode(value));
    }
  }
  return fields;
}

const fieldOf = (type: string, id: string): string => `${type}/${id}`;

function encode(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value, BufferJSON.replacer));
}

function decode(sealed: SealedStore, value: Buffer): unknown {
  try {
    return JSON.parse(value.toString(), BufferJSON.reviver);
  } catch {
    throw sealed.fail(new Unreadable());
  }
}

function revive<T extends keyof SignalDataTypeMap>(type: T, value: unknown): SignalDataTypeMap[T] {
  if (type !== 'app-state-sync-key') return value as SignalDataTypeMap[T];
  return proto.Message.AppStateSyncKeyData.fromObject(value as object) as unknown as SignalDataTypeMap[T];
}
