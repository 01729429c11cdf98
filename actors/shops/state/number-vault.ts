import { createHmac, hkdfSync } from 'node:crypto';
import { type TextCipher, textCipher } from '../../../runtime/text-cipher.ts';

/** Names numbers without telling them, and seals what is remembered of one whose shop was erased. */
export interface NumberVault extends TextCipher {
  /**
   * The digests of a number (digits only) for one use, one per secret, the newest first: what is stored goes under the
   * first, and is looked for under all.
   */
  digests(use: string, phone: string): readonly string[];
}

/** Half of SHA-256: no two numbers share it, and names stay short. */
const DIGEST_BYTES = 16;

/**
 * A vault under keys derived (HKDF-SHA-256) from `secrets`, in the order of `textCipher`. Numbers are few enough to be
 * tried one by one, so what keeps a digest from telling its number is the key, which is not in Redis.
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
