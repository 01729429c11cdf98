import { createRequire } from 'node:module';
import { Curve } from '@whiskeysockets/baileys';
import { SenderKeyMessage } from '@whiskeysockets/baileys/lib/Signal/Group/sender-key-message.js';
import { calculateSignature } from 'whatsapp-rust-bridge';
import {
  agree,
  agreeOnceRead,
  generateSignalKeyPair,
  isSignedBy,
  SIGNATURE_BYTES,
  type SignalKeyPair,
} from './curve.ts';

/** The functions that libsignal calls on its own curve module. It looks them up again at each call. */
interface LibsignalCurve {
  generateKeyPair: () => SignalKeyPair;
  calculateAgreement: (publicKey: Uint8Array, privateKey: Uint8Array) => Buffer;
  calculateSignature: (privateKey: Uint8Array, message: Uint8Array) => Uint8Array;
  verifySignature: (publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array) => boolean;
}

/** How the client signs and checks a group message. Its own types name one of the two only. */
export interface PostSignatures {
  getSignature: (privateKey: Uint8Array, signedBytes: Uint8Array) => Buffer;
  verifySignature: (this: SenderKeyMessage, publicKey: Uint8Array) => void;
}

/**
 * Replaces libsignal's and the client's operations on Curve25519 in this thread by ours. Keys and secrets are the same,
 * and ours are several times as fast.
 *
 * Ours also check signatures. libsignal and the client accept any 64 bytes as the signature of three things:
 * - the network's certificate;
 * - the account that a device is paired with;
 * - the first key of a recipient.
 *
 * libsignal's callers ignore the result of a check, so here a wrong signature throws.
 *
 * libsignal signs in JavaScript. Here the client's own WebAssembly signs. The client's group messages bind libsignal's
 * functions before any of this runs, so their methods are replaced as well. Call it once in a thread, before the first
 * client is made.
 *
 * `sameKey` maps all arrays with the same private key to one array, so that the key is read once. Default: each array
 * is its own.
 */
export function replaceClientCurve(sameKey: (privateKey: Uint8Array) => Uint8Array = (key) => key): void {
  const libsignal = createRequire(import.meta.url)('libsignal/src/curve.js') as LibsignalCurve;
  const sign = (privateKey: Uint8Array, message: Uint8Array): Buffer =>
    Buffer.from(calculateSignature(privateKey, message));
  libsignal.generateKeyPair = generateSignalKeyPair;
  libsignal.calculateAgreement = (publicKey, privateKey) => agreeOnceRead(publicKey, sameKey(privateKey));
  libsignal.calculateSignature = sign;
  libsignal.verifySignature = (publicKey, message, signature) => {
    if (!isSignedBy(publicKey, message, signature)) throw new Error('a signature is wrong');
    return true;
  };
  const posts = SenderKeyMessage.prototype as unknown as PostSignatures;
  posts.getSignature = sign;
  posts.verifySignature = function verifySignature(publicKey) {
    const message = this.serialize();
    const end = message.length - SIGNATURE_BYTES;
    if (!isSignedBy(publicKey, message.subarray(0, end), message.subarray(end)))
      throw new Error('the signature of a group message is wrong');
  };
  Curve.generateKeyPair = () => {
    const { pubKey, privKey } = generateSignalKeyPair();
    return { private: privKey, public: pubKey.subarray(1) };
  };
  Curve.sharedKey = (privateKey, publicKey) => Buffer.from(agree(publicKey, privateKey));
  Curve.sign = sign;
  Curve.verify = (publicKey, message, signature) => {
    try {
      return isSignedBy(publicKey, message, signature);
    } catch {
      return false;
    }
  };
}
