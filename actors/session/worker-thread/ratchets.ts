import {
  type BinaryNode,
  DEFAULT_CONNECTION_CONFIG,
  type LIDMapping,
  proto,
  type SignalAuthState,
  type SignalKeyStore,
  type SignalRepositoryWithLIDStore,
  type SocketConfig,
  unpadRandomMax16,
} from '@whiskeysockets/baileys';
import { type InboundEnvelope, readEnvelope, textOf } from './inbound-message.ts';
import { RatchetKeys, type StoreSealed, type StoreUnhurried } from './ratchet-keys.ts';

/** What a session does when its ratchets step. */
export interface RatchetHooks {
  /** Stores the steps that sealing took, before any ciphertext is handed on. */
  readonly storeSealed: StoreSealed;
  /** Stores what may be lost, before or with whatever is stored next. */
  readonly storeUnhurried: StoreUnhurried;
  /** The network's own ids of numbers; undefined: no answer. */
  readonly lookUpNumbers: (addresses: string[]) => Promise<LIDMapping[] | undefined>;
  /** A person wrote to the shop. Resolves when that is committed; a rejection undoes the step of the ratchet. */
  readonly received: (envelope: InboundEnvelope, text: string) => Promise<void>;
  /** Whether a device is left out because it has no keys. */
  readonly isKeyless: (address: string) => boolean;
  /** The shop's own addresses, without device. */
  readonly ownAddresses: () => readonly string[];
}

/** The ratchets of one session, as the client's option `makeSignalRepository` wants them. */
export interface Ratchets {
  readonly makeSignalRepository: SocketConfig['makeSignalRepository'];
  /** Tells which stanza a ciphertext came in; call it before the client sees the stanza. */
  readonly arriving: (stanza: BinaryNode) => void;
}

/**
 * Where an inbound message is committed before its receipt goes out. The client decrypts, then sends the receipt, then
 * emits an event; so the commit has its place inside the decryption, and before the step of the ratchet is stored:
 *
 *   decrypt → inbound committed by the shop's actor → step of the ratchet committed → receipt.
 *
 * Killed before the second commit, the network delivers again and the untouched ratchet reads it again (the actor
 * knows the wire id). Killed after it, the network delivers again, libsignal says that the key was used already, and
 * the client answers with an acknowledgement, which is right: the message stands in the store.
 */
export function makeRatchets(store: SignalKeyStore, hooks: RatchetHooks): Ratchets {
  const stanzas = new WeakMap<Uint8Array, BinaryNode>();
  const keys = new RatchetKeys(store, hooks);

  const announce = async (ciphertext: Uint8Array, padded: Uint8Array): Promise<void> => {
    const stanza = stanzas.get(ciphertext);
    const envelope = stanza === undefined ? undefined : readEnvelope(stanza, hooks.ownAddresses());
    if (envelope === undefined) return;
    const text = textOf(proto.Message.decode(unpadRandomMax16(padded)));
    if (text !== undefined) await hooks.received(envelope, text);
  };

  return {
    arriving(stanza) {
      if (!Array.isArray(stanza.content)) return;
      for (const { tag, content } of stanza.content) {
        if (tag === 'enc' && content instanceof Uint8Array) stanzas.set(content, stanza);
      }
    },
    makeSignalRepository(auth, logger): SignalRepositoryWithLIDStore {
      const own: SignalAuthState = { creds: auth.creds, keys };
      const client = DEFAULT_CONNECTION_CONFIG.makeSignalRepository(own, logger, hooks.lookUpNumbers);
      return {
        ...client,
        // Keys that make no sense cost their own device the message, and a group's others nothing: sealing for a device
        // without a session fails for it alone. A store that failed ends the session by itself.
        injectE2ESession: (bundle) =>
          keys.unhurried(() => client.injectE2ESession(bundle)).catch(() => undefined),
        decryptMessage: (sealed) =>
          keys.transaction(async () => {
            const padded = await client.decryptMessage(sealed);
            await announce(sealed.ciphertext, padded);
            return padded;
          }, sealed.jid),
        // The client asks for the keys of those without a session, and fails as a whole where one has none. Sealing for such
        // a device fails for it alone.
        validateSession: async (address) =>
          hooks.isKeyless(address) ? { exists: true } : client.validateSession(address),
        encryptMessage: (plain) => keys.seal(() => client.encryptMessage(plain)),
        encryptGroupMessage: (plain) => keys.seal(() => client.encryptGroupMessage(plain)),
      };
    },
  };
}
