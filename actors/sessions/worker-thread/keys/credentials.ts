import { createHash } from 'node:crypto';
import {
  type AuthenticationCreds,
  BufferJSON,
  initAuthCreds,
  proto,
  type SignalDataSet,
  type SignalDataTypeMap,
  type SignalKeyStore,
} from '@whiskeysockets/baileys';
import { IDENTITY_FIELD } from '../../associated-data.ts';
import { Unreadable } from '../../credential-cipher.ts';
import type { Carry, SealedStore } from '../store/sealed-store.ts';
import { TOKEN_INDEX } from './contact-tokens.ts';

const PAIRED_AT = 'pairedAtMs';

/** A shop's identity on the network and its Signal keys, kept in its sealed store. */
export interface Credentials {
  readonly creds: AuthenticationCreds;
  readonly keys: SignalKeyStore;
  /** Stores keys that may be lost, together with the next write or before it. */
  setLater(data: SignalDataSet): void;
  /** Stores any keys now. Resolves when they are stored. */
  storeNow(data: SignalDataSet): Promise<void>;
  /** Changed keys that another writer stores, in one commit with its own data. */
  carry(data: SignalDataSet, carry: Carry): Promise<void>;
  /** When these credentials were paired; undefined before the pairing. */
  pairedAtMs(): number | undefined;
  /**
   * Stores the present identity if the stored one differs, since each login names it again. Does nothing before a
   * pairing, or while a code waits to be typed. The pairing clears the rest of an older identity.
   */
  save(nowMs: number): Promise<void>;
}

/**
 * Reads a shop's credentials, or makes new ones if none are stored. Rejects with `Unreadable` rather than replace
 * unreadable ones.
 */
export async function loadCredentials(sealedStore: SealedStore): Promise<Credentials> {
  const [storedIdentity, pairedAt] = await sealedStore.read('credentials', [IDENTITY_FIELD, PAIRED_AT]);
  const creds =
    storedIdentity === undefined
      ? initAuthCreds()
      : (decode(sealedStore, storedIdentity) as AuthenticationCreds);
  // If the identity of a pairing is missing, its time is invalid.
  let storedDigest = storedIdentity && digestOf(storedIdentity);
  let pairedAtMs =
    storedIdentity === undefined || pairedAt === undefined ? undefined : Number(pairedAt.toString());
  return {
    creds,
    keys: signalKeys(sealedStore),
    setLater: (data) => sealedStore.writeLater({ hash: 'credentials', fields: fieldsOf(data) }),
    storeNow: (data) => sealedStore.write({ hash: 'credentials', fields: fieldsOf(data) }),
    carry: (data, carry) => sealedStore.carry({ hash: 'credentials', fields: fieldsOf(data) }, carry),
    pairedAtMs: () => pairedAtMs,
    async save(nowMs) {
      // A client that asked for a code names itself before anybody typed it; the account signs with the pairing.
      if (creds.me === undefined || creds.account === undefined) return;
      const { pairingCode: _, ...lastingCredentials } = creds;
      const identity = encode(lastingCredentials);
      const digest = digestOf(identity);
      const isPairing = pairedAtMs === undefined;
      if (!isPairing && digest === storedDigest) return;
      storedDigest = digest;
      const fields = new Map<string, Buffer | undefined>([[IDENTITY_FIELD, identity]]);
      pairedAtMs ??= nowMs;
      if (isPairing) fields.set(PAIRED_AT, Buffer.from(String(pairedAtMs)));
      await sealedStore.write({ hash: 'credentials', fields, clears: isPairing });
    },
  };
}

/** Data that the network sends again on request. */
const FACTS = new Set(['lid-mapping', 'device-list']);

/**
 * True if this may be lost: it has only facts, or notes of tokens issued to contacts, which can be issued again. A
 * token that a contact issued (it has bytes) is not sent twice.
 */
function mayBeLost(data: SignalDataSet): boolean {
  return Object.keys(data).every((type) => {
    if (type !== 'tctoken') return FACTS.has(type);
    return Object.entries(data.tctoken ?? {}).every(
      ([id, entry]) => id === TOKEN_INDEX || entry?.token.length === 0,
    );
  });
}

/**
 * Removes the list of all contacts, which the client writes with each token that it issues and which grows with every
 * contact. An issued token that is over is replaced by the next one, so the list is not needed to find it.
 */
function withoutTokenIndex(data: SignalDataSet): SignalDataSet {
  const { [TOKEN_INDEX]: list, ...issued } = data.tctoken ?? {};
  return list === undefined || Object.keys(issued).length === 0 ? data : { ...data, tctoken: issued };
}

/**
 * The kind of the keys that open the account's settings. The phone shares them, and shares new ones over the years. A
 * changed client of the owner may share any number, so only the newest are kept, by a list of their ids.
 */
const SETTINGS_KEY = 'app-state-sync-key';
const MOST_SETTINGS_KEYS = 1_000;
const SETTINGS_KEY_IDS = `${SETTINGS_KEY}/__ids`;

/** Returns the fields of shared keys: the newest, the list of all that are kept, and the removal of the others. */
async function settingsKeyFields(
  sealedStore: SealedStore,
  sharedSettings: NonNullable<SignalDataSet[typeof SETTINGS_KEY]>,
): Promise<Map<string, Buffer | undefined>> {
  const [list] = await sealedStore.read('credentials', [SETTINGS_KEY_IDS]);
  const listBefore = list === undefined ? [] : (decode(sealedStore, list) as string[]);
  const ids = [...listBefore.filter((id) => !(id in sharedSettings)), ...Object.keys(sharedSettings)];
  const kept = ids.slice(-MOST_SETTINGS_KEYS);
  const removed = ids
    .slice(0, -MOST_SETTINGS_KEYS)
    .map((id) => [fieldOf(SETTINGS_KEY, id), undefined] as const);
  const fields = new Map([...fieldsOf({ [SETTINGS_KEY]: sharedSettings }), ...removed]);
  return fields.set(SETTINGS_KEY_IDS, encode(kept));
}

/** Returns the Signal keys of one shop. Each batch is in one fenced write, alone or with others. */
function signalKeys(sealedStore: SealedStore): SignalKeyStore {
  return {
    async get<T extends keyof SignalDataTypeMap>(type: T, ids: string[]) {
      const values = await sealedStore.read(
        'credentials',
        ids.map((id) => fieldOf(type, id)),
      );
      const found: { [id: string]: SignalDataTypeMap[T] } = {};
      for (const [index, id] of ids.entries()) {
        const value = values[index];
        if (value === undefined) continue;
        found[id] = revive(type, (type === 'session' ? decodeSession : decode)(sealedStore, value));
      }
      return found;
    },
    async set(data: SignalDataSet) {
      const hash = 'credentials';
      // A write that fails ends the session, so no caller has to wait for it.
      if (mayBeLost(data)) {
        sealedStore.writeLater({ hash, fields: fieldsOf(withoutTokenIndex(data)) });
      } else {
        const { [SETTINGS_KEY]: sharedSettings, ...others } = data;
        const more = sharedSettings === undefined ? [] : await settingsKeyFields(sealedStore, sharedSettings);
        await sealedStore.write({ hash, fields: new Map([...fieldsOf(others), ...more]) });
      }
    },
  };
}

function fieldsOf(data: SignalDataSet): Map<string, Buffer | undefined> {
  const fields = new Map<string, Buffer | undefined>();
  for (const [type, entries] of Object.entries(data)) {
    for (const [id, value] of Object.entries(entries ?? {}))
      fields.set(fieldOf(type, id), value == null ? undefined : encode(value));
  }
  return fields;
}

const fieldOf = (type: string, id: string): string => `${type}/${id}`;

function encode(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value, BufferJSON.replacer));
}

/** Returns a digest that shows a change of the identity, without a second copy of its keys. */
const digestOf = (identity: Buffer): string => createHash('sha256').update(identity).digest('base64');

/** How the client's form of bytes begins. */
const BYTES = '"type":"Buffer"';

function decode(sealedStore: SealedStore, value: Buffer): unknown {
  try {
    const text = value.toString();
    // A text without the marker, as of a Signal session, has no bytes to revive.
    return text.includes(BYTES) ? JSON.parse(text, BufferJSON.reviver) : JSON.parse(text);
  } catch {
    throw sealedStore.fail(new Unreadable());
  }
}

/** Signal sessions by the opened value that holds them. libsignal reads them into separate objects. */
const sessions = new WeakMap<Buffer, object>();

/** Decodes a Signal session, once for all reads of one opened value. */
function decodeSession(sealedStore: SealedStore, value: Buffer): unknown {
  const knownSession = sessions.get(value);
  if (knownSession !== undefined) return knownSession;
  const session = decode(sealedStore, value) as object;
  sessions.set(value, session);
  return session;
}

function revive<T extends keyof SignalDataTypeMap>(type: T, value: unknown): SignalDataTypeMap[T] {
  if (type !== SETTINGS_KEY) return value as SignalDataTypeMap[T];
  return proto.Message.AppStateSyncKeyData.fromObject(value as object) as unknown as SignalDataTypeMap[T];
}
