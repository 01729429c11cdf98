import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { LRUCache } from 'lru-cache';

const CIPHER = 'aes-256-gcm';
const SALT_BYTES = 16;
const NONCE_BYTES = 12;
/** Bytes of a nonce that count the texts, after zeros. 2^48 texts take a process centuries. */
const COUNTER_BYTES = 6;
const TAG_BYTES = 16;
const HEAD_BYTES = NONCE_BYTES + TAG_BYTES;

/**
 * Sealers whose derived keys are remembered: live processes, and those whose stored texts are still read. Anyone who
 * may publish can name any number of them; a forgotten one costs two hashes.
 */
const REMEMBERED_SALTS = 256;

/** Seals texts that pass through Redis or are stored there, each bound to its use. */
export interface TextCipher {
  /**
   * Returns base64 of salt, nonce, tag and ciphertext. `use` is not part of it and must be the same when it is opened.
   */
  seal(use: string, plaintext: string): string;
  /** Returns the plain text. Throws if none of our keys sealed it for this use, or if the text was changed. */
  open(use: string, sealedText: string): string;
  /** True if the first secret sealed it, for this use: then the others can be removed. */
  isNewest(use: string, sealedText: string): boolean;
}

/**
 * Seals texts with AES-256-GCM. Keys are derived (HKDF-SHA-256) from `secrets` for one purpose and for each cipher. A
 * salt of 128 random bits, made here and sent along, gives every process a separate key. Its nonces count, so none ever
 * comes twice under a key (docs/decisions/024-a-key-for-each-process.md).
 *
 * The first secret seals, all open. To rotate, add the new secret after the old one at every node, then move it first.
 * Throws if there is no secret.
 */
export function textCipher(secrets: readonly Buffer[], purpose: string): TextCipher {
  const salt = randomBytes(SALT_BYTES);
  const keysOf = derivedKeys(secrets, purpose);
  // Redis may still have texts that 0.1.0 sealed. They have no salt.
  const keysWithoutSalt = secrets.map((secret) => keyOf(secret, '', purpose));
  const [ownKey] = keysOf(salt);
  if (ownKey === undefined) throw new Error(`the cipher of ${purpose} needs a secret`);
  let count = 0;
  return {
    seal(use, plaintext) {
      const nonce = Buffer.alloc(NONCE_BYTES);
      nonce.writeUIntBE(count, NONCE_BYTES - COUNTER_BYTES, COUNTER_BYTES);
      count += 1;
      const cipher = createCipheriv(CIPHER, ownKey, nonce).setAAD(Buffer.from(use));
      const body = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()]);
      return Buffer.concat([salt, nonce, cipher.getAuthTag(), body]).toString('base64');
    },
    open(use, sealedText) {
      const bytes = Buffer.from(sealedText, 'base64');
      for (const key of keysOf(bytes.subarray(0, SALT_BYTES))) {
        const plaintext = openWith(key, use, bytes.subarray(SALT_BYTES));
        if (plaintext !== undefined) return plaintext;
      }
      for (const key of keysWithoutSalt) {
        const plaintext = openWith(key, use, bytes);
        if (plaintext !== undefined) return plaintext;
      }
      throw new Error(
        `a sealed text of ${purpose} was sealed with a key that is not ours, or for another use`,
      );
    },
    isNewest(use, sealedText) {
      const bytes = Buffer.from(sealedText, 'base64');
      const [newestKey] = keysOf(bytes.subarray(0, SALT_BYTES));
      return newestKey !== undefined && openWith(newestKey, use, bytes.subarray(SALT_BYTES)) !== undefined;
    },
  };
}

/**
 * Returns the plain text of nonce, tag and ciphertext. Undefined if the key did not seal it for this use, or if the
 * text was changed.
 */
function openWith(key: KeyObject, use: string, bytes: Buffer): string | undefined {
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const tag = bytes.subarray(NONCE_BYTES, HEAD_BYTES);
  try {
    const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(use)).setAuthTag(tag);
    const body = decipher.update(bytes.subarray(HEAD_BYTES));
    return Buffer.concat([body, decipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}

/** Makes a key object, because Node 24 takes longer to make a key from bytes than to seal with it. */
function keyOf(secret: Buffer, salt: Buffer | '', purpose: string): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', secret, salt, purpose, 32)));
}

/** Returns the key of each secret for a salt. Keys of the salts that were used last are remembered. */
function derivedKeys(secrets: readonly Buffer[], purpose: string): (salt: Buffer) => readonly KeyObject[] {
  const knownKeys = new LRUCache<string, readonly KeyObject[]>({ max: REMEMBERED_SALTS });
  return (salt) => {
    const name = salt.toString('base64');
    const keys = knownKeys.get(name) ?? secrets.map((secret) => keyOf(secret, salt, purpose));
    knownKeys.set(name, keys);
    return keys;
  };
}
