import { createHmac, hkdfSync } from 'node:crypto';
import { type TextCipher, textCipher } from '../../../runtime/text-cipher.ts';

/** Derives names that do not reveal numbers, and seals inbound messages and the data of an erased shop's number. */
export interface NumberVault extends TextCipher {
  /**
   * Returns the digests of a number (digits only) for one use, one per secret, newest first. Data is stored under the
   * first digest, and looked up under all.
   */
  digests(use: string, phone: string): readonly string[];
}

/** Half of SHA-256: no two numbers share it, and names stay short. */
const DIGEST_BYTES = 16;

/**
 * Makes the vault of inbound messages and of erased shops' numbers. Its keys are derived (HKDF-SHA-256) from `secrets`,
 * in the order of `textCipher`. Numbers are few enough to try them all. Only the key, which is not in Redis, keeps a
 * digest from revealing its number.
 */
export function numberVault(secrets: readonly Buffer[]): NumberVault {
  const keys = secrets.map((secret) => Buffer.from(hkdfSync('sha256', secret, '', 'number-digests', 32)));
  return {
    ...textCipher(secrets, 'numbers'),
    digests: (use, phone) =>
      keys.map((key) =>
        createHmac('sha256', key)
          .update(`${use} ${phone}`)
          .digest()
          .subarray(0, DIGEST_BYTES)
          .toString('base64url'),
      ),
  };
}
