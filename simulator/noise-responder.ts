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

/** A 12-byte nonce whose last four bytes count. */
function nonce(counter: number): Uint8Array {
  const bytes = new Uint8Array(12);
  new DataView(bytes.buffer).setUint32(8, counter);
  return bytes;
}

/** The client's identity, as the handshake proved it. */
export interface ClientFinish {
  /** The client's long-lived Noise key: a companion is known by it. */
  readonly staticKey: Buffer;
  readonly payload: proto.ClientPayload;
}

/**
 * The responding side of `Noise_XX_25519_AESGCM_SHA256` as the chat client speaks it: one nonce counter per key,
 * shared by both directions until the handshake ends, then one key per direction.
 *
 * States: awaiting client hello → awaiting client finish → transport. A message that does not authenticate throws,
 * and the connection must be dropped.
 */
export class NoiseResponder {
  readonly #staticKey: KeyPair;
  readonly #certificateChain: Uint8Array;
  readonly #ephemeralKey: KeyPair = Curve.generateKeyPair();
  #hash: Buffer = Buffer.from(NOISE_MODE);
  #salt: Uint8Array = this.#hash;
  #key: Uint8Array = this.#hash;
  #counter = 0;
  #receiveKey: Uint8Array = NO_BYTES;
  #sendKey: Uint8Array = NO_BYTES;
  #received = 0;
  #sent = 0;

  constructor(options: { staticKey: KeyPair; certificateChain: Uint8Array }) {
    this.#staticKey = options.staticKey;
    this.#certificateChain = options.certificateChain;
    this.#mixHash(INTRO_HEADER);
  }

  /** Reads the client's hello and returns the server's, with the certificate chain inside. */
  serverHello(clientHello: Uint8Array): Uint8Array {
    const clientEphemeral = proto.HandshakeMessage.decode(clientHello).clientHello?.ephemeral;
    if (clientEphemeral?.byteLength !== 32) throw new Error('client hello without an ephemeral key');
    this.#mixHash(clientEphemeral);
    this.#mixHash(this.#ephemeralKey.public);
    this.#mixKey(Curve.sharedKey(this.#ephemeralKey.private, clientEphemeral));
    const encryptedStatic = this.#encryptHandshake(this.#staticKey.public);
    this.#mixKey(Curve.sharedKey(this.#staticKey.private, clientEphemeral));
    const payload = this.#encryptHandshake(this.#certificateChain);
    return proto.HandshakeMessage.encode({
      serverHello: { ephemeral: this.#ephemeralKey.public, static: encryptedStatic, payload },
    }).finish();
  }

  /** Reads the client's finish and turns to transport keys. */
  clientFinish(message: Uint8Array): ClientFinish {
    const finish = proto.HandshakeMessage.decode(message).clientFinish;
    if (!finish?.static || !finish.payload) throw new Error('client finish without key or payload');
    const staticKey = this.#decryptHandshake(finish.static);
    this.#mixKey(Curve.sharedKey(this.#ephemeralKey.private, staticKey));
    const payload = proto.ClientPayload.decode(this.#decryptHandshake(finish.payload));
    // The first half is the key that the client writes with, so it is the one to read with.
    [this.#receiveKey, this.#sendKey] = this.#derive(NO_BYTES);
    return { staticKey, payload };
  }

  encrypt(plaintext: Uint8Array): Buffer {
    return aesEncryptGCM(plaintext, this.#sendKey, nonce(this.#sent++), NO_BYTES);
  }

  decrypt(ciphertext: Uint8Array): Buffer {
    return aesDecryptGCM(ciphertext, this.#receiveKey, nonce(this.#received++), NO_BYTES);
  }

  #mixHash(data: Uint8Array): void {
    this.#hash = sha256(Buffer.concat([this.#hash, data]));
  }

  #derive(input: Uint8Array): [Uint8Array, Uint8Array] {
    const derived = hkdf(input, 64, { salt: Buffer.from(this.#salt), info: '' });
    return [derived.subarray(0, 32), derived.subarray(32)];
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
