import {
  type BinaryNode,
  extractAddressingContext,
  type SignalKeyStore,
  type SignalRepositoryWithLIDStore,
  transferDevice,
} from '@whiskeysockets/baileys';
import { isLidAddress } from '../wire/chat-address.ts';

/** A ciphertext that could not be read in the session of the address that it came from. */
export interface Unread {
  /** The device's address. */
  readonly address: string;
  /** The stanza that it came in. */
  readonly stanza: BinaryNode | undefined;
  /** Tries once more. */
  readonly read: () => Promise<Uint8Array>;
  readonly error: unknown;
}

/**
 * Reads a ciphertext in the session that its device has under its other address: a person is known by number and by the
 * network's own id, and a session that was made under one of them may be used under the other (WhiskeySockets/Baileys
 * issue 2331). The session moves to the address in use. Call it within a transaction that drops what was changed where
 * this rejects. Rejects with the first error where there is no such session.
 */
export async function readUnderOtherAddress(
  { lidMapping, jidToSignalProtocolAddress }: SignalRepositoryWithLIDStore,
  keys: Pick<SignalKeyStore, 'get' | 'set'>,
  { address, stanza, read, error }: Unread,
): Promise<Uint8Array> {
  const named = stanza && extractAddressingContext(stanza).senderAlt;
  const other = named ?? (isLidAddress(address) ? await lidMapping.getPNForLID(address) : null);
  if (other == null) throw error;
  const place = jidToSignalProtocolAddress(address);
  const otherPlace = jidToSignalProtocolAddress(transferDevice(address, other));
  const { [otherPlace]: session } = await keys.get('session', [otherPlace]);
  if (session == null || otherPlace === place) throw error;
  await keys.set({ session: { [place]: session } });
  const opened = await read().catch(() => Promise.reject(error));
  await keys.set({ session: { [otherPlace]: null } });
  return opened;
}
