import { createHash, randomBytes } from 'node:crypto';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** Prefix and live marker of every key (docs/contract.md, Authentication). */
const KEY_PREFIX = 'tm_live_';
/** 32 bytes in base 62, padded to one length. */
const DIGITS = 43;

/** Returns a new raw key: shown once, never stored. */
export function makeRawKey(): string {
  let remainder = BigInt(`0x${randomBytes(32).toString('hex')}`);
  let digits = '';
  for (let index = 0; index < DIGITS; index += 1) {
    digits = ALPHABET[Number(remainder % 62n)] + digits;
    remainder /= 62n;
  }
  return KEY_PREFIX + digits;
}

/** Returns the stored form of a raw key: its SHA-256 in hex (docs/contract.md, Authentication). */
export function keyHash(rawKey: string): string {
  return createHash('sha256').update(rawKey).digest('hex');
}
