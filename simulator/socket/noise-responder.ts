import {
  aesDecryptGCM,
  aesEncryptGCM,
  Curve,
  hkdf,
  type KeyPair,
  NOISE_MODE,
  proto,
  sha256,
} from '@whiskeysockets/baileys';
import { INTRO_HEADER } from './frames.ts';

const NO_BYTES = Buffer.alloc(0);

/** The first hash of a handshake: its name padded to 32 bytes, or hashed if it is longer (Noise, 5.2). */
const PROTOCOLS = {
  full: Buffer.from(NOISE_MODE),
  resumed: Buffer.from('Noise_IK_25519_AESGCM_SHA256\0\0\0\0'),
  fallback: sha256(Buffer.from('Noise_XXfallback_25519_AESGCM_SHA256')),
};

/** Returns a 12-byte nonce. Its last four bytes are the counter. */
function nonce(counter: number): Uint8Array {
  const bytes = new Uint8Array(12);
  new DataView(bytes.buffer).setUint32(8, counter);
  return bytes;
}

/** The client's identity, proved by the handshake. */
export interface ClientFinish {
  /** The client's long-lived Noise key. It identifies a companion. */
  readonly staticKey: Buffer;
  readonly payload: proto.ClientPayload;
}

/** The answer to a client's hello. With `finish` the handshake is over. Without it the client's finish follows. */
export interface ServerHello {
  readonly message: Uint8Array;
  readonly finish?: ClientFinish;
}

/**
 * The responding side of the Noise handshakes of chat clients. Both directions share one nonce counter per key until
 * the handshake ends. Then each direction has its own key. A first login uses XX. A client that kept the server's
 * static key resumes by IK, in one round trip. If that key is no longer the server's, XXfallback follows (Noise, 7.4
 * and 10; vinikjkkj/zapo, `src/transport/noise`).
 *
 * States: awaiting client hello → awaiting client finish (not for IK) → transport. A message that does not authenticate
 * throws, and the connection must be dropped.
 */
export class NoiseResponder {
  readonly #staticKey: KeyPair;
  readonly #certificateChain: Uint8Array;
  readonly #ephemeralKey: KeyPair = Curve.generateKeyPair();
  #hash: Buffer = NO_BYTES;
  #salt: Uint8Array = NO_BYTES;
  #key: Uint8Array = NO_BYTES;
  #counter = 0;
  #receiveKey: Uint8Array = NO_BYTES;
  #sendKey: Uint8Array = NO_BYTES;
  #received = 0;
  #sent = 0;

  constructor(options: { staticKey: KeyPair; certificateChain: Uint8Array }) {
    this.#staticKey = options.staticKey;
    this.#certificateChain = options.certificateChain;
  }

  /** Reads the client's hello and returns the answer, with the certificate chain inside. */
  serverHello(clientHello: Uint8Array): ServerHello {
    const hello = proto.HandshakeMessage.decode(clientHello).clientHello;
    const ephemeral = hello?.ephemeral;
    if (ephemeral?.byteLength !== 32) throw new Error('client hello without an ephemeral key');
    if (!hello?.static || !hello.payload) return this.#fullHello(PROTOCOLS.full, ephemeral);
    const finish = this.#resumedFinish(ephemeral, hello.static, hello.payload);
    return finish ? this.#resumedHello(ephemeral, finish) : this.#fullHello(PROTOCOLS.fallback, ephemeral);
  }

  #fullHello(protocol: Buffer, clientEphemeral: Uint8Array): ServerHello {
    this.#begin(protocol);
    this.#mixHash(clientEphemeral);
    this.#mixHash(this.#ephemeralKey.public);
    this.#mixKey(Curve.sharedKey(this.#ephemeralKey.private, clientEphemeral));
    const encryptedStatic = this.#encryptHandshake(this.#staticKey.public);
    this.#mixKey(Curve.sharedKey(this.#staticKey.private, clientEphemeral));
    return this.#helloMessage({ static: encryptedStatic });
  }

  /** Returns the client's identity from a resuming hello. Undefined: the hello was written for another static key. */
  #resumedFinish(
    clientEphemeral: Uint8Array,
    sealedStatic: Uint8Array,
    sealedPayload: Uint8Array,
  ): ClientFinish | undefined {
    this.#begin(PROTOCOLS.resumed);
    this.#mixHash(this.#staticKey.public);
    this.#mixHash(clientEphemeral);
    this.#mixKey(Curve.sharedKey(this.#staticKey.private, clientEphemeral));
    let staticKey: Buffer;
    try {
      staticKey = this.#decryptHandshake(sealedStatic);
    } catch {
      return undefined;
    }
    this.#mixKey(Curve.sharedKey(this.#staticKey.private, staticKey));
    return { staticKey, payload: proto.ClientPayload.decode(this.#decryptHandshake(sealedPayload)) };
  }

  #resumedHello(clientEphemeral: Uint8Array, finish: ClientFinish): ServerHello {
    this.#mixHash(this.#ephemeralKey.public);
    this.#mixKey(Curve.sharedKey(this.#ephemeralKey.private, clientEphemeral));
    this.#mixKey(Curve.sharedKey(this.#ephemeralKey.private, finish.staticKey));
    const hello = this.#helloMessage({});
    this.#deriveTransportKeys();
    return { ...hello, finish };
  }

  #helloMessage(fields: { static?: Uint8Array }): ServerHello {
    const payload = this.#encryptHandshake(this.#certificateChain);
    const serverHello = { ephemeral: this.#ephemeralKey.public, payload, ...fields };
    return { message: proto.HandshakeMessage.encode({ serverHello }).finish() };
  }

  /** Reads the client's finish and switches to transport keys. */
  clientFinish(message: Uint8Array): ClientFinish {
    const finish = proto.HandshakeMessage.decode(message).clientFinish;
    if (!finish?.static || !finish.payload) throw new Error('client finish without key or payload');
    const staticKey = this.#decryptHandshake(finish.static);
    this.#mixKey(Curve.sharedKey(this.#ephemeralKey.private, staticKey));
    const payload = proto.ClientPayload.decode(this.#decryptHandshake(finish.payload));
    this.#deriveTransportKeys();
    return { staticKey, payload };
  }

  encrypt(plaintext: Uint8Array): Buffer {
    return aesEncryptGCM(plaintext, this.#sendKey, nonce(this.#sent++), NO_BYTES);
  }

  decrypt(ciphertext: Uint8Array): Buffer {
    return aesDecryptGCM(ciphertext, this.#receiveKey, nonce(this.#received++), NO_BYTES);
  }

  #begin(protocol: Buffer): void {
    this.#hash = protocol;
    this.#salt = protocol;
    this.#key = protocol;
    this.#counter = 0;
    this.#mixHash(INTRO_HEADER);
  }

  /** The first half is the key with which the client writes, so it is our key for reading. */
  #deriveTransportKeys(): void {
    [this.#receiveKey, this.#sendKey] = this.#derive(NO_BYTES);
  }

  #mixHash(data: Uint8Array): void {
    this.#hash = sha256(Buffer.concat([this.#hash, data]));
  }

  #derive(input: Uint8Array): [Uint8Array, Uint8Array] {
    const derivedKeys = hkdf(input, 64, { salt: Buffer.from(this.#salt), info: '' });
    return [derivedKeys.subarray(0, 32), derivedKeys.subarray(32)];
  }

  #mixKey(input: Uint8Array): void {
    [this.#salt, this.#key] = this.#derive(input);
    this.#counter = 0;
  }

  #encryptHandshake(plaintext: Uint8Array): Buffer {
    const ciphertext = aesEncryptGCM(plaintext, this.#key, nonce(this.#counter++), this.#hash);
    this.#mixHash(ciphertext);
    return ciphertext;
  }

  #decryptHandshake(ciphertext: Uint8Array): Buffer {
    const plaintext = aesDecryptGCM(ciphertext, this.#key, nonce(this.#counter++), this.#hash);
    this.#mixHash(ciphertext);
    return plaintext;
  }
}
