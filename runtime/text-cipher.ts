import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Seals texts that pass through Redis or lie there, each bound to what it is for. */
export interface TextCipher {
  /** Base64 of nonce, tag and ciphertext. `use` is not part of it and must be the same when it is opened. */
  seal(use: string, plain: string): string;
  /** Throws when no key opens it, it was changed, or it was sealed for another use. */
  open(use: string, sealed: string): string;
}

/**
 * AES-256-GCM under keys derived (HKDF-SHA-256) from `secrets` for one purpose: the first secret seals, all open, so that a
 * new secret is added behind the old one at every node before it goes first. Throws where there is no secret.
 */
export function textCipher(secrets: readonly Buffer[], purpose: string): TextCipher {
  const keys = secrets.map((secret) => Buffer.from(hkdfSync('sha256', secret, '', purpose, 32)));
  const [newest] = keys;
  if (newest === undefined) throw new Error(`the cipher of ${purpose} needs a secret`);
  return {
    seal(use, plain) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, newest, nonce).setAAD(Buffer.from(use));
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64');
    },
    open(use, sealed) {
      const bytes = Buffer.from(sealed, 'base64');
      const nonce = bytes.subarray(0, NONCE_BYTES);
      const tag = bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
      for (const key of keys) {
        try {
          const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
          decipher.setAAD(Buffer.from(use)).setAuthTag(tag);
          const body = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES));
          return Buffer.concat([body, decipher.final()]).toString('utf8');
        } catch {
          // Another key's, or nobody's.
        }
      }
      throw new Error(
        `A sealed text of ${purpose} was sealed with a key that is not ours, or for another use`,
      );
    },
  };
}
