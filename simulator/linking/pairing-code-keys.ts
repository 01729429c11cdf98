/**
 * The phone's side of the keys in pairing by code. The typed code unlocks one key. Phone and client agree on the other,
 * a secret. The client's side is in its `requestPairingCode` and its handling of `link_code_companion_reg`.
 */
import { createCipheriv, createDecipheriv, hkdfSync, pbkdf2, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';

/** Rounds of PBKDF2 that turn a code into a key. The client uses the same number (2 << 16). */
const CODE_ROUNDS = 131_072;
const KEY_BYTES = 32;
const SALT_BYTES = 32;
const COUNTER_BYTES = 16;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The length of a wrapped public key: salt, counter block, and the key itself. */
export const WRAPPED_KEY_BYTES = SALT_BYTES + COUNTER_BYTES + KEY_BYTES;

const derive = promisify(pbkdf2);

/** Returns a code in the form that is hashed: only capitals and digits, however it was typed (`abcd-efgh`). */
export const plainCode = (typed: string): string => typed.replaceAll(/[\s-]/g, '').toUpperCase();

const codeKey = (code: string, salt: Uint8Array): Promise<Buffer> =>
  derive(code, salt, CODE_ROUNDS, KEY_BYTES, 'sha256');

/** Wraps a public key of 32 bytes by a code. */
export async function wrapByCode(publicKey: Uint8Array, code: string): Promise<Buffer> {
  const salt = randomBytes(SALT_BYTES);
  const counter = randomBytes(COUNTER_BYTES);
  const cipher = createCipheriv('aes-256-ctr', await codeKey(code, salt), counter);
  return Buffer.concat([salt, counter, cipher.update(publicKey), cipher.final()]);
}

/** Returns the public key that was wrapped by a code. A wrong code gives 32 other bytes, and no error. */
export async function unwrapByCode(wrappedKey: Uint8Array, code: string): Promise<Buffer> {
  const salt = wrappedKey.subarray(0, SALT_BYTES);
  const counter = wrappedKey.subarray(SALT_BYTES, SALT_BYTES + COUNTER_BYTES);
  const cipher = createDecipheriv('aes-256-ctr', await codeKey(code, salt), counter);
  return Buffer.concat([cipher.update(wrappedKey.subarray(SALT_BYTES + COUNTER_BYTES)), cipher.final()]);
}

/** The content of the client's bundle: both identity keys, and its share of the secret. */
export interface OpenedBundle {
  readonly companionIdentity: Buffer;
  readonly primaryIdentity: Buffer;
  readonly random: Buffer;
}

/** Opens the bundle of `companion_finish`. Returns undefined if phone and client used different codes. */
export function openKeyBundle(bundle: Uint8Array, ephemeralSecret: Uint8Array): OpenedBundle | undefined {
  if (bundle.byteLength !== SALT_BYTES + NONCE_BYTES + 3 * KEY_BYTES + TAG_BYTES) return undefined;
  const salt = bundle.subarray(0, SALT_BYTES);
  const sealedBytes = bundle.subarray(SALT_BYTES + NONCE_BYTES);
  const info = 'link_code_pairing_key_bundle_encryption_key';
  const key = Buffer.from(hkdfSync('sha256', ephemeralSecret, salt, info, KEY_BYTES));
  const nonce = bundle.subarray(SALT_BYTES, SALT_BYTES + NONCE_BYTES);
  const cipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAuthTag(sealedBytes.subarray(-TAG_BYTES));
  try {
    const plaintext = Buffer.concat([cipher.update(sealedBytes.subarray(0, -TAG_BYTES)), cipher.final()]);
    return {
      companionIdentity: plaintext.subarray(0, KEY_BYTES),
      primaryIdentity: plaintext.subarray(KEY_BYTES, 2 * KEY_BYTES),
      random: plaintext.subarray(2 * KEY_BYTES),
    };
  } catch {
    return undefined;
  }
}

/** Returns the secret under which the account signs the companion. A QR code carries it unencrypted. */
export function linkingSecret(parts: {
  readonly ephemeralSecret: Uint8Array;
  readonly identitySecret: Uint8Array;
  readonly random: Uint8Array;
}): Buffer {
  const { ephemeralSecret, identitySecret, random } = parts;
  const seed = Buffer.concat([ephemeralSecret, identitySecret, random]);
  return Buffer.from(hkdfSync('sha256', seed, Buffer.alloc(0), 'adv_secret', KEY_BYTES));
}
