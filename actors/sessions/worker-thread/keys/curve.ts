import {
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  type KeyObject,
  verify,
} from 'node:crypto';

/** Length of X25519 keys and secrets, in bytes (RFC 7748, section 5). */
const KEY_BYTES = 32;
/** Length of XEdDSA signatures, in bytes. */
export const SIGNATURE_BYTES = 64;
/** The byte before each public key in Signal's form: DJB_TYPE, Curve25519. */
const CURVE_MARK = 5;
const HIGH_BIT = 0x80;

/** The prime of the field, 2²⁵⁵ − 19. */
const PRIME = (1n << 255n) - 19n;
const FIELD_MASK = (1n << 255n) - 1n;

/**
 * The points of order 1, 2, 4 and 8, by their u (https://cr.yp.to/ecdh.html#validate), reduced modulo the prime. With
 * one of them every agreement is zero, and a signature of any message can be made without a private key.
 */
const LOW_ORDER: ReadonlySet<bigint> = new Set([
  0n,
  1n,
  PRIME - 1n,
  325606250916557431795983626356110631294008115727848805560023387167927233504n,
  39382357235489614581723060781553021112529911719440698176882885853963445705823n,
]);

/** A key pair in Signal's form: the public key with its mark before it, 33 bytes; the private key 32. */
export interface SignalKeyPair {
  readonly pubKey: Buffer;
  readonly privKey: Buffer;
}

/** The bytes before the 32 bytes of an X25519 private key in PKCS#8 (RFC 8410, section 7). */
const PRIVATE_KEY_HEAD = Buffer.from('302e020100300506032b656e04220420', 'hex');

/**
 * Node 20 takes 314 µs to read a private key from DER, with 27 µs for the agreement itself, so it gets JWK. Node 26
 * refuses a JWK without the public key. From Node 22 on DER is as quick.
 */
const READS_JWK = process.versions.node.startsWith('20.');

/**
 * Makes a new key pair, from OpenSSL's JWK. The call that makes the pair also encodes it. Node 20 locks a key while it
 * exports it. A garbage collection at that moment frees the call, which takes the same lock, and the thread blocks
 * permanently.
 */
export function generateSignalKeyPair(): SignalKeyPair {
  // Node's types lack the JWK encoding here.
  const make = generateKeyPairSync as unknown as (
    type: 'x25519',
    options: object,
  ) => { readonly publicKey: { readonly x: string }; readonly privateKey: { readonly d: string } };
  const { publicKey, privateKey } = make('x25519', {
    publicKeyEncoding: { format: 'jwk' },
    privateKeyEncoding: { format: 'jwk' },
  });
  return {
    pubKey: Buffer.concat([Buffer.from([CURVE_MARK]), Buffer.from(publicKey.x, 'base64url')]),
    privKey: Buffer.from(privateKey.d, 'base64url'),
  };
}

/**
 * The secret that X25519 gives for a public key (32 bytes, or 33 with Signal's mark) and a private key (32 bytes).
 * Throws for keys of another length or mark, and for a point of low order, whose secret everybody knows.
 */
export function agree(publicKey: Uint8Array, privateKey: Uint8Array): Buffer {
  return diffieHellman({ privateKey: readPrivateKey(privateKey), publicKey: readPublicKey(publicKey) });
}

type ReadKeys = WeakMap<Uint8Array, KeyObject>;

const privateKeys: ReadKeys = new WeakMap();
const publicKeys: ReadKeys = new WeakMap();

/**
 * `agree` for keys that are used more than once. OpenSSL reads each key once while the array with its bytes exists,
 * because reading a private key takes longer than agreeing with it. A new Signal session agrees five times with three
 * private and three public keys. The bytes must not be changed meanwhile.
 */
export function agreeOnceRead(publicKey: Uint8Array, privateKey: Uint8Array): Buffer {
  return diffieHellman({
    privateKey: readOnce(privateKeys, privateKey, readPrivateKey),
    publicKey: readOnce(publicKeys, publicKey, readPublicKey),
  });
}

function readOnce(
  readKeys: ReadKeys,
  bytes: Uint8Array,
  readKey: (bytes: Uint8Array) => KeyObject,
): KeyObject {
  const knownKey = readKeys.get(bytes);
  if (knownKey !== undefined) return knownKey;
  const key = readKey(bytes);
  readKeys.set(bytes, key);
  return key;
}

/**
 * Returns true if the private key of this public key signed the message. The signature has 64 bytes, the key 32, or 33
 * with Signal's mark. The form is XEdDSA (https://signal.org/docs/specifications/xeddsa/): an Ed25519 signature whose
 * key is the X25519 key's point on the Edwards form of the curve. The signature's highest bit is the sign. Throws for a
 * key of another length or mark.
 */
export function isSignedBy(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  const point = littleEndian(withoutMark(publicKey)) & FIELD_MASK;
  if (signature.byteLength !== SIGNATURE_BYTES || point >= PRIME || LOW_ORDER.has(point)) return false;
  const edwards = bytesOf(modulo((point - 1n) * inverseOf(point + 1n)));
  const signatureBytes = Buffer.from(signature);
  const lastByte = signatureBytes.readUInt8(SIGNATURE_BYTES - 1);
  edwards.writeUInt8(edwards.readUInt8(KEY_BYTES - 1) | (lastByte & HIGH_BIT), KEY_BYTES - 1);
  signatureBytes.writeUInt8(lastByte & ~HIGH_BIT & 0xff, SIGNATURE_BYTES - 1);
  try {
    return verify(null, message, publicKeyOf('Ed25519', edwards), signatureBytes);
  } catch {
    // OpenSSL finds no point there.
    return false;
  }
}

function withoutMark(publicKey: Uint8Array): Buffer {
  const { buffer, byteOffset, byteLength } = publicKey;
  const bytes = Buffer.from(buffer, byteOffset, byteLength);
  if (byteLength === KEY_BYTES) return bytes;
  if (byteLength === KEY_BYTES + 1 && bytes[0] === CURVE_MARK) return bytes.subarray(1);
  throw new Error(`a public key has ${KEY_BYTES} bytes, or one more with its mark; not ${byteLength}`);
}

const readPublicKey = (key: Uint8Array): KeyObject => publicKeyOf('X25519', withoutMark(key));

function publicKeyOf(curve: 'X25519' | 'Ed25519', key: Buffer): KeyObject {
  return createPublicKey({ key: { kty: 'OKP', crv: curve, x: key.toString('base64url') }, format: 'jwk' });
}

function readPrivateKey(key: Uint8Array): KeyObject {
  if (key.byteLength !== KEY_BYTES)
    throw new Error(`a private key has ${KEY_BYTES} bytes, not ${key.byteLength}`);
  const bytes = Buffer.from(key.buffer, key.byteOffset, key.byteLength);
  if (READS_JWK) return privateKeyOfJwk(bytes);
  return createPrivateKey({ key: Buffer.concat([PRIVATE_KEY_HEAD, bytes]), format: 'der', type: 'pkcs8' });
}

/** Node 20 ignores `x`, the public key. Computing it would cost another agreement. */
function privateKeyOfJwk(bytes: Buffer): KeyObject {
  const key = { kty: 'OKP', crv: 'X25519', x: '', d: bytes.toString('base64url') };
  return createPrivateKey({ key, format: 'jwk' });
}

const littleEndian = (bytes: Buffer): bigint => BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);

const bytesOf = (value: bigint): Buffer =>
  Buffer.from(value.toString(16).padStart(2 * KEY_BYTES, '0'), 'hex').reverse();

const modulo = (value: bigint): bigint => ((value % PRIME) + PRIME) % PRIME;

/** Returns the inverse modulo the prime, by Euclid's algorithm; all values here are public. */
function inverseOf(value: bigint): bigint {
  let [left, right, before, now] = [PRIME, modulo(value), 0n, 1n];
  while (right !== 0n) {
    const times = left / right;
    [left, right] = [right, left - times * right];
    [before, now] = [now, before - times * now];
  }
  return before;
}
