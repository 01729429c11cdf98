import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

const FORMAT = 1;
const KEY_MARK_BYTES = 4;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = 1 + KEY_MARK_BYTES + NONCE_BYTES;

/** A value that is there and cannot be read: no key of ours opens it, or it was changed. Never to be overwritten. */
export class Unreadable extends Error {
  readonly code = 'CREDENTIALS_UNREADABLE';

  constructor() {
    super('stored credentials exist and cannot be read with the configured keys');
  }
}

/** Seals and opens values with AES-256-GCM, each bound to the place it is stored in. */
export interface CredentialCipher {
  /** Format, mark of the key, nonce, ciphertext and tag. */
  seal(place: string, plain: Buffer): Buffer;
  /** Throws `Unreadable`. */
  open(place: string, sealed: Buffer): Buffer;
  /** Whether a value was sealed with the newest key. */
  isCurrent(sealed: Buffer): boolean;
}

/** What tells keys apart beside what they sealed; says nothing of the key. */
export function keyMark(key: Buffer): Buffer {
  return createHash('sha256').update(key).digest().subarray(0, KEY_MARK_BYTES);
}

/** A cipher whose first key seals and whose keys all open, so that a key is changed by putting a new one first. */
export function credentialCipher(keys: readonly Buffer[]): CredentialCipher {
  const known = keys.map((key) => {
    if (key.length !== 32) throw new Error('a credentials key must have 32 bytes');
    return { key, mark: keyMark(key) };
  });
  const [first] = known;
  if (first === undefined) throw new Error('at least one credentials key is needed');
  const markOf = (sealed: Buffer): Buffer => sealed.subarray(1, 1 + KEY_MARK_BYTES);

  return {
    seal(place, plain) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', first.key, nonce);
      cipher.setAAD(Buffer.from(place));
      return Buffer.concat([
        Buffer.from([FORMAT]),
        first.mark,
        nonce,
        cipher.update(plain),
        cipher.final(),
        cipher.getAuthTag(),
      ]);
    },
    open(place, sealed) {
      const matching = known.find(({ mark }) => mark.equals(markOf(sealed)));
      if (sealed[0] !== FORMAT || matching === undefined || sealed.length < HEAD_BYTES + TAG_BYTES) {
        throw new Unreadable();
      }
      const nonce = sealed.subarray(1 + KEY_MARK_BYTES, HEAD_BYTES);
      const decipher = createDecipheriv('aes-256-gcm', matching.key, nonce);
      decipher.setAAD(Buffer.from(place));
      decipher.setAuthTag(sealed.subarray(sealed.length - TAG_BYTES));
      try {
        return Buffer.concat([
          decipher.update(sealed.subarray(HEAD_BYTES, sealed.length - TAG_BYTES)),
          decipher.final(),
        ]);
      } catch {
        throw new Unreadable();
      }
    },
    isCurrent: (sealed) => sealed[0] === FORMAT && first.mark.equals(markOf(sealed)),
  };
}
