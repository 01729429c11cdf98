import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { ValueFreeError } from '../../runtime/described-error.ts';

const FORMAT = 2;
/**
 * Sealed by the configured key itself, the same for all shops. Such values still open, and are sealed again when a
 * session opens.
 */
const FORMAT_OF_ONE_KEY = 1;
const KEY_MARK_BYTES = 4;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = 1 + KEY_MARK_BYTES + NONCE_BYTES;

/** A stored value that cannot be read: no configured key opens it, or it was changed. It must never be overwritten. */
export class Unreadable extends ValueFreeError {
  readonly code = 'CREDENTIALS_UNREADABLE';

  constructor() {
    super('stored credentials exist and cannot be read with the configured keys');
  }
}

/** Seals and opens values of one shop with AES-256-GCM, each bound to its storage key. */
export interface CredentialCipher {
  /** Returns format, mark of the key, nonce, ciphertext and tag. The associated data are not part of it. */
  seal(associatedData: string, plaintext: Buffer): Buffer;
  /** Throws `Unreadable`. */
  open(associatedData: string, ciphertext: Buffer): Buffer;
  /** The first bytes of every value sealed with the newest key in the newest format, and of no other. */
  readonly head: Buffer;
  /** True if there is an older key, with which values may still be sealed. */
  readonly hasOlderKey: boolean;
  /** True if a value was sealed with the newest key, in the newest format. */
  isCurrent(ciphertext: Buffer): boolean;
}

/** Returns a short digest that identifies the key that sealed a value, and reveals nothing of the key itself. */
export function keyMark(key: Buffer): Buffer {
  return createHash('sha256').update(key).digest().subarray(0, KEY_MARK_BYTES);
}

/**
 * Returns the ciphers of shops by their owner (tenant and shop). The first key seals and all keys open, so a new key is
 * put first to change keys.
 *
 * Each shop's sealing key is derived from the first key (HKDF-SHA-256). Random nonces of 96 bits are safe for 2^32
 * seals under one key. A fleet reaches that within months, and no shop ever does.
 */
export function credentialCiphers(keys: readonly Buffer[]): (owner: string) => CredentialCipher {
  const markedKeys = keys.map((key) => {
    if (key.length !== 32) throw new Error('a credentials key must have 32 bytes');
    return { key, asObject: createSecretKey(key), mark: keyMark(key) };
  });
  const [first] = markedKeys;
  if (first === undefined) throw new Error('at least one credentials key is needed');
  const head = Buffer.concat([Buffer.from([FORMAT]), first.mark]);
  return (owner) => {
    // Key objects, made once: Node 24 takes longer to make a key from bytes than to seal with it.
    const derivedKeys = new Map<Buffer, KeyObject>();
    const derive = (key: Buffer): KeyObject => {
      const derivedKey = derivedKeys.get(key);
      if (derivedKey !== undefined) return derivedKey;
      const ownerKey = createSecretKey(Buffer.from(hkdfSync('sha256', key, '', `credentials/${owner}`, 32)));
      derivedKeys.set(key, ownerKey);
      return ownerKey;
    };
    return {
      seal(associatedData, plaintext) {
        const nonce = randomBytes(NONCE_BYTES);
        const cipher = createCipheriv('aes-256-gcm', derive(first.key), nonce);
        cipher.setAAD(Buffer.from(associatedData));
        return Buffer.concat([head, nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
      },
      open(associatedData, ciphertext) {
        const markedKey = markedKeys.find(({ mark }) => mark.equals(markOf(ciphertext)));
        const isKnown = ciphertext[0] === FORMAT || ciphertext[0] === FORMAT_OF_ONE_KEY;
        if (!isKnown || markedKey === undefined || ciphertext.length < HEAD_BYTES + TAG_BYTES)
          throw new Unreadable();
        return openWith(
          ciphertext[0] === FORMAT ? derive(markedKey.key) : markedKey.asObject,
          associatedData,
          ciphertext,
        );
      },
      head,
      hasOlderKey: markedKeys.length > 1,
      isCurrent: (ciphertext) => ciphertext.subarray(0, head.length).equals(head),
    };
  };
}

function markOf(ciphertext: Buffer): Buffer {
  return ciphertext.subarray(1, 1 + KEY_MARK_BYTES);
}

function openWith(key: KeyObject, associatedData: string, sealedBytes: Buffer): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, sealedBytes.subarray(1 + KEY_MARK_BYTES, HEAD_BYTES));
  decipher.setAAD(Buffer.from(associatedData));
  decipher.setAuthTag(sealedBytes.subarray(sealedBytes.length - TAG_BYTES));
  const ciphertext = sealedBytes.subarray(HEAD_BYTES, sealedBytes.length - TAG_BYTES);
  try {
    return Buffer.concat([decipher.update(ciphertext), decipher.final()]);
  } catch {
    throw new Unreadable();
  }
}
