import {
  Curve,
  DEFAULT_CONNECTION_CONFIG,
  encodeWAMessage,
  proto,
  type SignalCreds,
  type SignalDataSet,
  type SignalDataTypeMap,
  type SignalKeyStoreWithTransaction,
  type SignalRepositoryWithLIDStore,
  unpadRandomMax16,
} from '@whiskeysockets/baileys';
import type { Collection } from '../journal.ts';
import { type KeyBundle, type PublicPreKey, signalSession } from '../queries/key-bundle.ts';

/** One encrypted payload of a stanza. */
export interface Envelope {
  readonly type: 'pkmsg' | 'msg' | 'skmsg';
  readonly ciphertext: Uint8Array;
}

/** One-time keys get ids 1 to this and then start again. This many can wait for their first use. */
const ONE_TIME_KEYS = 100;

/**
 * A simulated phone: device 0 of a number, with its Signal identity, sessions with companions, and sender keys. Its
 * work runs one piece at a time.
 *
 * A companion is always known by its phone-number device address, however a stanza named it. With a second session
 * under its LID, groups and statuses addressed by LID would find no session record.
 */
export class Handset {
  readonly phone: string;
  readonly #creds: SignalCreds;
  readonly #keys: Collection<unknown>;
  readonly #repository: SignalRepositoryWithLIDStore;
  readonly #lock = new HandsetLock();
  #oneTimeKeys = 0;

  constructor(options: { phone: string; creds: SignalCreds; keys: Collection<unknown> }) {
    this.phone = options.phone;
    this.#creds = options.creds;
    this.#keys = options.keys;
    this.#repository = DEFAULT_CONNECTION_CONFIG.makeSignalRepository(
      { creds: options.creds, keys: this.#keyStore() },
      silentLogger,
      undefined,
    );
    // A handset knows its sessions only by number, so no lookup is needed before each use.
    this.#repository.lidMapping.getLIDForPN = async () => null;
  }

  /** The public half of the account key, 32 bytes. Companions learn it when they pair. */
  get identityKey(): Uint8Array {
    return this.#creds.signedIdentityKey.public;
  }

  get registrationId(): number {
    return this.#creds.registrationId;
  }

  /** Signs with the account key. */
  sign(bytes: Uint8Array): Uint8Array {
    return Curve.sign(this.#creds.signedIdentityKey.private, bytes);
  }

  /** Returns the secret that the account key shares with another identity, given by its public key. */
  agree(publicKey: Uint8Array): Buffer {
    return Curve.sharedKey(this.#creds.signedIdentityKey.private, publicKey);
  }

  /** Returns a bundle for a device that wants a session, with a new one-time key. */
  bundle(): KeyBundle {
    const { registrationId, signedPreKey } = this.#creds;
    return {
      registrationId,
      identityKey: this.identityKey,
      signedPreKey: {
        id: signedPreKey.keyId,
        key: signedPreKey.keyPair.public,
        signature: signedPreKey.signature,
      },
      preKey: this.#newPreKey(),
    };
  }

  #newPreKey(): PublicPreKey {
    this.#oneTimeKeys += 1;
    const id = 1 + (this.#oneTimeKeys % ONE_TIME_KEYS);
    const pair = Curve.generateKeyPair();
    this.#keys.set(this.#keyOf('pre-key', String(id)), pair);
    return { id, key: pair.public };
  }

  /** Decrypts a payload that `sender` encrypted for this handset only. Rejects if it cannot. */
  decrypt(sender: string, envelope: Envelope): Promise<proto.Message> {
    return this.#lock.run(async () => {
      const { type, ciphertext } = envelope;
      if (type === 'skmsg') throw new Error('a group payload needs a group');
      const plaintext = await this.#repository.decryptMessage({ jid: sender, type, ciphertext });
      return proto.Message.decode(unpadRandomMax16(plaintext));
    });
  }

  /** Stores the sender key that `sender` uses in `group`. */
  learnSenderKey(sender: string, item: proto.Message.ISenderKeyDistributionMessage): Promise<void> {
    return this.#lock.run(() =>
      this.#repository.processSenderKeyDistributionMessage({ authorJid: sender, item }),
    );
  }

  /** Decrypts a payload that `sender` encrypted for everyone in `group`. Rejects without the sender's key. */
  decryptGroup(sender: string, group: string, ciphertext: Uint8Array): Promise<proto.Message> {
    return this.#lock.run(async () => {
      const sealedMessage = { group, authorJid: sender, msg: ciphertext };
      const plaintext = await this.#repository.decryptGroupMessage(sealedMessage);
      return proto.Message.decode(unpadRandomMax16(plaintext));
    });
  }

  /** Resolves with true if a session with that companion is open. */
  async knows(companion: string): Promise<boolean> {
    return (await this.#repository.validateSession(companion)).exists;
  }

  /** Opens a session with a companion, and replaces an earlier one. */
  openSession(companion: string, bundle: KeyBundle): Promise<void> {
    return this.#lock.run(() =>
      // The library accepts a bundle without a one-time key, although its types do not.
      this.#repository.injectE2ESession({ jid: companion, session: signalSession(bundle) as never }),
    );
  }

  /** Encrypts a message, or raw bytes, for one companion. A session with it must be open. */
  encrypt(companion: string, message: proto.IMessage | Uint8Array): Promise<Envelope> {
    const data = message instanceof Uint8Array ? message : encodeWAMessage(message);
    return this.#lock.run(() => this.#repository.encryptMessage({ jid: companion, data }));
  }

  /** Encrypts for everyone in `group`. Also returns the key message that members need to read it. */
  encryptGroup(
    group: string,
    author: string,
    message: proto.IMessage,
  ): Promise<{ envelope: Envelope; keyMessage: proto.IMessage }> {
    return this.#lock.run(async () => {
      const data = encodeWAMessage(message);
      const encrypted = await this.#repository.encryptGroupMessage({ group, meId: author, data });
      return {
        envelope: { type: 'skmsg', ciphertext: encrypted.ciphertext },
        keyMessage: {
          senderKeyDistributionMessage: {
            groupId: group,
            axolotlSenderKeyDistributionMessage: encrypted.senderKeyDistributionMessage,
          },
        },
      };
    });
  }

  #keyOf(type: string, id: string): string {
    return `${this.phone} ${type} ${id}`;
  }

  #keyStore(): SignalKeyStoreWithTransaction {
    return {
      get: <Type extends keyof SignalDataTypeMap>(type: Type, ids: string[]) => {
        const valuesFound: Record<string, SignalDataTypeMap[Type]> = {};
        for (const id of ids) {
          const value = this.#keys.get(this.#keyOf(type, id));
          if (value !== undefined) valuesFound[id] = value as SignalDataTypeMap[Type];
        }
        return valuesFound;
      },
      set: (data: SignalDataSet) => {
        for (const [type, values] of Object.entries(data)) {
          for (const [id, value] of Object.entries(values ?? {})) {
            if (value === null || value === undefined) this.#keys.delete(this.#keyOf(type, id));
            else this.#keys.set(this.#keyOf(type, id), value);
          }
        }
      },
      // The handset's own lock already separates pieces of work.
      isInTransaction: () => false,
      transaction: (work) => work(),
    };
  }
}

const silence = (): void => undefined;

/** The Signal code also throws each failure that it logs. */
const silentLogger = {
  level: 'silent',
  child: () => silentLogger,
  trace: silence,
  debug: silence,
  info: silence,
  warn: silence,
  error: silence,
};

/** Runs pieces of work one after the other. A piece that fails does not stop the next. */
class HandsetLock {
  #tail: Promise<unknown> = Promise.resolve();

  run<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#tail.then(work);
    this.#tail = result.catch(() => undefined);
    return result;
  }
}
