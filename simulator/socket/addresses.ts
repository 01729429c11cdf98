import { jidDecode } from '@whiskeysockets/baileys';

/** How a stanza names a user: by phone number, or by the network's own id (LID). */
export type Addressing = 'pn' | 'lid';

/** The address of every status. */
export const STATUS_ADDRESS = 'status@broadcast';

/** The address of the server itself. */
export const SERVER_ADDRESS = 's.whatsapp.net';

/**
 * Returns the digits of a phone number written with or without `+`. Undefined if it is not one (E.164, 7 to 15 digits).
 */
export function phoneDigits(text: unknown): string | undefined {
  if (typeof text !== 'string') return undefined;
  return /^\+?([1-9]\d{6,14})$/.exec(text)?.[1];
}

/** `33612345678@s.whatsapp.net`, with `:device` for a companion. */
export const phoneAddress = (phone: string, device = 0): string =>
  device === 0 ? `${phone}@s.whatsapp.net` : `${phone}:${device}@s.whatsapp.net`;

/** `123456789012345@lid`, with `:device` for a companion. */
export const lidAddress = (lid: string, device = 0): string =>
  device === 0 ? `${lid}@lid` : `${lid}:${device}@lid`;

export const isGroupAddress = (address: string): boolean => address.endsWith('@g.us');

/** Returns the parts of a user's address, or undefined if it names no user. */
export function parseUserAddress(
  address: string | undefined,
): { user: string; device: number; addressing: Addressing } | undefined {
  const decodedJid = jidDecode(address);
  if (!decodedJid?.user) return undefined;
  if (decodedJid.server === 'lid')
    return { user: decodedJid.user, device: decodedJid.device ?? 0, addressing: 'lid' };
  if (decodedJid.server === 's.whatsapp.net' || decodedJid.server === 'c.us')
    return { user: decodedJid.user, device: decodedJid.device ?? 0, addressing: 'pn' };
  return undefined;
}
