import {
  type BinaryNode,
  DEFAULT_CONNECTION_CONFIG,
  extractAddressingContext,
  getBinaryNodeChildren,
  type LIDMapping,
  proto,
  type SignalAuthState,
  type SignalKeyStore,
  type SignalRepositoryWithLIDStore,
  type SocketConfig,
  transferDevice,
  unpadRandomMax16,
} from '@whiskeysockets/baileys';
import type { ExpiringCache } from '../shared/expiring-cache.ts';
import { isLidAddress } from '../wire/chat-address.ts';
import { type InboundEnvelope, readEnvelope } from '../wire/inbound-message.ts';
import { type HistoryNotice, readPhoneMessage } from '../wire/phone-message.ts';
import { RatchetKeys, type StoreLater, type StoreSealed } from './ratchet-keys.ts';

export interface RatchetOptions {
  /** Stores the steps of sealing, before any ciphertext is passed on. */
  readonly storeSealed: StoreSealed;
  /** Stores data that may be lost, together with the next write or before it. */
  readonly storeLater: StoreLater;
  /** Returns the network's own ids of numbers. Undefined without a reply. */
  readonly lookUpNumbers: (addresses: string[]) => Promise<LIDMapping[] | undefined>;
  /** A person wrote to the shop. Resolves when that is committed; a rejection undoes the step of the ratchet. */
  readonly onReceived: (envelope: InboundEnvelope, message: proto.IMessage) => Promise<void>;
  /** The shop's phone sent a part of its history. Resolves and rejects as `onReceived` does. */
  readonly historyReceived: (wireId: string, notice: HistoryNotice) => Promise<void>;
  /**
   * A message was decrypted and decoded, and could not be reported. The client asks its sender for the message again,
   * five times at most, and refuses it each time.
   */
  readonly onUnreported: (wireId: string | undefined, error: unknown) => void;
  /** True if a device is left out: it has no keys, or is the shop's own, which the client takes for a member's. */
  readonly isLeftOut: (address: string) => boolean;
  /** Devices that are left out because their keys are not known. One whose message was read is taken out. */
  readonly keyless: Pick<ExpiringCache, 'isEmpty' | 'del'>;
  /** The shop's own addresses, without device. */
  readonly ownAddresses: () => readonly string[];
  /** The number that a stanza named in addition to the network's own id of its sender, by the stanza's id. */
  readonly numbersBeside: Pick<ExpiringCache, 'get' | 'set'>;
}

/** The ratchets of one session, as the client's option `makeSignalRepository` wants them. */
export interface Ratchets {
  readonly makeSignalRepository: SocketConfig['makeSignalRepository'];
  /** Notes which stanza a ciphertext came in. Call it before the client sees the stanza. */
  readonly arriving: (stanza: BinaryNode) => void;
  /** Returns `failed` if the client could not read a part of the stanza, and undefined if it tried to read none. */
  readonly outcomeOf: (stanza: BinaryNode) => 'read' | 'failed' | undefined;
}

/**
 * Commits an inbound message before its receipt goes out. The client decrypts, then sends the receipt, then emits an
 * event. So the commit is made inside the decryption, before the step of the ratchet is stored:
 *
 * 1. decrypt; 2. the shop's actor commits the message; 3. the step of the ratchet is committed; 4. receipt.
 *
 * If the process is killed before the step is committed, the network delivers again. The untouched ratchet reads the
 * message again, and the actor knows its wire id. If it is killed after that, the network delivers again and libsignal
 * reports a used key. The client then acknowledges, which is right, since the message is stored.
 */
export function makeRatchets(store: SignalKeyStore, options: RatchetOptions): Ratchets {
  const stanzas = new WeakMap<Uint8Array, BinaryNode>();
  const outcomes = new WeakMap<BinaryNode, 'read' | 'failed'>();
  const keys = new RatchetKeys(store, options);

  /** Opens a ciphertext, and notes for its stanza if that worked. */
  const open = async <Opened>(ciphertext: Uint8Array, opening: Promise<Opened>): Promise<Opened> => {
    const stanza = stanzas.get(ciphertext);
    try {
      const openedValue = await opening;
      if (stanza !== undefined && !outcomes.has(stanza)) outcomes.set(stanza, 'read');
      return openedValue;
    } catch (error) {
      if (stanza !== undefined) {
        outcomes.set(stanza, 'failed');
        remember(stanza);
      }
      throw error;
    }
  };

  /** The phone may be asked for this stanza's message. Its answer may leave out the sender that the stanza names. */
  const remember = ({ attrs: { id, sender_pn } }: BinaryNode): void => {
    if (id !== undefined && sender_pn !== undefined) options.numbersBeside.set(id, sender_pn);
  };

  return {
    arriving(stanza) {
      const sealedParts = getBinaryNodeChildren(stanza, 'enc');
      if (sealedParts.length === 0) remember(stanza);
      for (const { content } of sealedParts) if (content instanceof Uint8Array) stanzas.set(content, stanza);
    },
    outcomeOf: (stanza) => outcomes.get(stanza),
    makeSignalRepository(auth, logger): SignalRepositoryWithLIDStore {
      const ratchetAuth: SignalAuthState = { creds: auth.creds, keys };
      const client = DEFAULT_CONNECTION_CONFIG.makeSignalRepository(
        ratchetAuth,
        logger,
        options.lookUpNumbers,
      );
      return {
        ...client,
        // Broken keys cost their own device the message, and nothing for the group's other members. Sealing for a
        // device without a session fails for it alone. A store that failed ends the session by itself.
        injectE2ESession: (bundle) =>
          keys.transactionStoredLater(() => client.injectE2ESession(bundle)).catch(() => undefined),
        decryptMessage: async (sealedMessage) => {
          const opening = keys.transaction(async () => {
            const decrypt = (): Promise<Uint8Array> => client.decryptMessage(sealedMessage);
            const stanza = stanzas.get(sealedMessage.ciphertext);
            const paddedText = await decrypt().catch((error: unknown) =>
              readUnderOtherAddress(client, keys, {
                address: sealedMessage.jid,
                stanza,
                read: decrypt,
                error,
              }),
            );
            if (stanza !== undefined) {
              // A sender can make a text that does not decode. It is refused without a line in the log.
              const message = proto.Message.decode(unpadRandomMax16(paddedText));
              await report(stanza, message, options).catch((error: unknown) => {
                options.onUnreported(stanza.attrs.id, error);
                throw error;
              });
            }
            return paddedText;
          }, sealedMessage.jid);
          const openedText = await open(sealedMessage.ciphertext, opening);
          if (!options.keyless.isEmpty) await takeInAgain(client, options.keyless, sealedMessage.jid);
          return openedText;
        },
        decryptGroupMessage: (sealedMessage) =>
          open(sealedMessage.msg, client.decryptGroupMessage(sealedMessage)),
        // The client requests the keys of devices without a session, and fails completely if one has none. Sealing for
        // such a device fails for it alone.
        validateSession: async (address) =>
          options.isLeftOut(address) ? { exists: true } : client.validateSession(address),
        encryptMessage: (plaintext) => keys.seal(() => client.encryptMessage(plaintext)),
        encryptGroupMessage: (plaintext) => keys.seal(() => client.encryptGroupMessage(plaintext)),
      };
    },
  };
}

/** Reports the messages of a decrypted stanza to the session, and a part of the history if it has one. */
async function report(
  stanza: BinaryNode,
  message: proto.IMessage,
  { ownAddresses, numbersBeside, onReceived, historyReceived }: RatchetOptions,
): Promise<void> {
  const own = ownAddresses();
  const otherAddress = (wireId: string): string | undefined => numbersBeside.get(wireId);
  const { copies = [], notice } = readPhoneMessage(stanza, message, { own, otherAddress }) ?? {};
  for (const copy of copies) await onReceived(copy.envelope, copy.message);
  if (notice !== undefined) await historyReceived(stanza.attrs.id ?? '', notice);
  const envelope = readEnvelope(stanza, own);
  if (envelope !== undefined) await onReceived(envelope, message);
}

/**
 * Ends the time for which a device without keys is left out. Its message was read, so it has a session under both of
 * its addresses. The client notes the number of a stanza's sender before it decrypts.
 */
async function takeInAgain(
  { lidMapping }: SignalRepositoryWithLIDStore,
  keyless: Pick<ExpiringCache, 'del'>,
  address: string,
): Promise<void> {
  keyless.del(address);
  const number = isLidAddress(address) ? await lidMapping.getPNForLID(address) : null;
  if (number !== null) keyless.del(transferDevice(address, number));
}

/** A ciphertext that could not be read in the session of its sender's address. */
interface UnreadCiphertext {
  /** The device's address. */
  readonly address: string;
  /** The stanza of the ciphertext. */
  readonly stanza: BinaryNode | undefined;
  /** Tries to read it again. */
  readonly read: () => Promise<Uint8Array>;
  readonly error: unknown;
}

/**
 * Reads a ciphertext in the session that its device has under its other address. A person has two addresses, by number
 * and by the network's own id. A session made under one may be used under the other (WhiskeySockets/Baileys issue
 * 2331). The session moves to the address in use. Call it within a transaction that drops its changes if this rejects.
 * Rejects with the first error if there is no such session.
 */
async function readUnderOtherAddress(
  { lidMapping, jidToSignalProtocolAddress }: SignalRepositoryWithLIDStore,
  keys: Pick<SignalKeyStore, 'get' | 'set'>,
  { address, stanza, read, error }: UnreadCiphertext,
): Promise<Uint8Array> {
  const namedAddress = stanza && extractAddressingContext(stanza).senderAlt;
  const otherAddress = namedAddress ?? (isLidAddress(address) ? await lidMapping.getPNForLID(address) : null);
  if (otherAddress == null) throw error;
  const device = jidToSignalProtocolAddress(address);
  const otherDevice = jidToSignalProtocolAddress(transferDevice(address, otherAddress));
  const { [otherDevice]: session } = await keys.get('session', [otherDevice]);
  if (session == null || otherDevice === device) throw error;
  await keys.set({ session: { [device]: session } });
  const openedBytes = await read().catch(() => Promise.reject(error));
  await keys.set({ session: { [otherDevice]: null } });
  return openedBytes;
}
