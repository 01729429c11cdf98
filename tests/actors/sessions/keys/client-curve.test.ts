import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { Curve } from '@whiskeysockets/baileys';
import { SenderKeyMessage } from '@whiskeysockets/baileys/lib/Signal/Group/sender-key-message.js';
// libsignal's own functions, read before the program replaces them.
import * as libsignal from 'libsignal/src/curve.js';
import {
  type PostSignatures,
  replaceClientCurve,
} from '../../../../actors/sessions/worker-thread/keys/client-curve.ts';
import { isSignedBy } from '../../../../actors/sessions/worker-thread/keys/curve.ts';

const posts = SenderKeyMessage.prototype as unknown as PostSignatures;
const { getSignature, verifySignature } = posts;

const require = createRequire(import.meta.url);

interface Builder {
  initOutgoing(bundle: object): Promise<void>;
}

/** Opens a session by libsignal's own functions, with an empty store. */
function builder(stored: string[]): Builder {
  const { SessionBuilder, ProtocolAddress } = require('libsignal') as {
    SessionBuilder: new (storage: object, address: object) => Builder;
    ProtocolAddress: new (user: string, device: number) => object;
  };
  const { generateKeyPair } = require('libsignal/src/curve.js') as { generateKeyPair: () => object };
  const identity = generateKeyPair();
  return new SessionBuilder(
    {
      isTrustedIdentity: async () => true,
      getOurIdentity: async () => identity,
      loadSession: async () => undefined,
      storeSession: async (address: string) => void stored.push(address),
    },
    new ProtocolAddress('4915551', 0),
  );
}

const marked = (key: Uint8Array): Buffer => Buffer.concat([Buffer.from([5]), key]);

test('once the client’s curve is replaced, a wrong signature counts as wrong: of a certificate, and of the keys a contact is written to with', async () => {
  const identity = Curve.generateKeyPair();
  const signedPair = Curve.generateKeyPair();
  const publicKey = marked(signedPair.public);
  const signature = Buffer.from(Curve.sign(identity.private, publicKey));
  const bundle = (ownBytes: Buffer): object => ({
    registrationId: 5,
    identityKey: marked(identity.public),
    signedPreKey: { keyId: 1, publicKey, signature: ownBytes },
  });
  const stored: string[] = [];
  // Until the check is installed, the client accepts any 64 bytes.
  assert.equal(Curve.verify(identity.public, publicKey, randomBytes(64)), true);
  await builder(stored).initOutgoing(bundle(randomBytes(64)));
  assert.equal(stored.length, 1);

  replaceClientCurve();
  assert.equal(Curve.verify(identity.public, publicKey, signature), true);
  assert.equal(Curve.verify(identity.public, publicKey, randomBytes(64)), false);
  assert.equal(Curve.verify(identity.public.subarray(1), publicKey, signature), false);
  await assert.rejects(builder(stored).initOutgoing(bundle(randomBytes(64))), /signature/);
  assert.equal(stored.length, 1);
  await builder(stored).initOutgoing(bundle(signature));
  assert.equal(stored.length, 2);

  const [left, right] = [Curve.generateKeyPair(), Curve.generateKeyPair()];
  assert.equal(left.public.byteLength, 32);
  assert.deepEqual(Curve.sharedKey(left.private, right.public), Curve.sharedKey(right.private, left.public));
});

test('a signature is one to libsignal as well, of that message and key alone, and different each time', () => {
  replaceClientCurve();
  const seen = new Set<string>();
  for (let length = 0; length < 20; length += 1) {
    const { private: privateKey, public: publicKey } = Curve.generateKeyPair();
    const message = randomBytes(length * 7);
    const signature = Buffer.from(Curve.sign(privateKey, message));
    assert.equal(signature.byteLength, 64);
    assert.equal(libsignal.verifySignature(marked(publicKey), message, signature), true);
    assert.equal(isSignedBy(publicKey, message, signature), true);
    assert.equal(isSignedBy(publicKey, Buffer.concat([message, Buffer.alloc(1)]), signature), false);
    assert.equal(isSignedBy(Curve.generateKeyPair().public, message, signature), false);
    seen.add(signature.toString('hex')).add(Buffer.from(Curve.sign(privateKey, message)).toString('hex'));
  }
  assert.equal(seen.size, 40);
});

test('group messages are signed and checked without the curve in JavaScript, and each way takes what the other made', () => {
  replaceClientCurve();
  assert.notEqual(posts.getSignature, getSignature);
  assert.notEqual(posts.verifySignature, verifySignature);
  const pair = Curve.generateKeyPair();
  const publicKey = marked(pair.public);
  const post = (): SenderKeyMessage => new SenderKeyMessage(1, 2, randomBytes(30), pair.private);
  const changedMessage = post();
  changedMessage.serialize()[5] = (changedMessage.serialize()[5] ?? 0) ^ 1;
  for (const check of [verifySignature, posts.verifySignature]) {
    check.call(post(), publicKey);
    assert.throws(() => check.call(changedMessage, publicKey));
    assert.throws(() => check.call(post(), marked(Curve.generateKeyPair().public)));
  }
  const signedInJavaScript = getSignature.call(post(), pair.private, Buffer.from('a post'));
  assert.equal(isSignedBy(publicKey, Buffer.from('a post'), signedInJavaScript), true);
});
