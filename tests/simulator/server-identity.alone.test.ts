import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Curve, generateSignalPubKey, proto } from '@whiskeysockets/baileys';
import { verifySignature } from 'libsignal/src/curve.js';
import { Journal } from '../../simulator/journal.ts';
import { serverIdentity } from '../../simulator/socket/server-identity.ts';
import { Fixture } from './fixture.ts';
import { TestClient } from './test-client.ts';

/**
 * The client's own check throws away libsignal's result and takes any 64 bytes for a signature. This one is what it
 * was meant to be.
 */
function verifyStrictly(context: TestContext): { results: boolean[] } {
  const lenient = Curve.verify;
  const results: boolean[] = [];
  Curve.verify = (publicKey, message, signature) => {
    const key = Buffer.from(generateSignalPubKey(publicKey));
    const isValid: boolean = verifySignature(key, Buffer.from(message), Buffer.from(signature));
    results.push(isValid);
    return isValid;
  };
  context.after(() => {
    Curve.verify = lenient;
  });
  return { results };
}

test('a client that really checks signatures accepts the certificates and the pairing', async (context) => {
  const { results } = verifyStrictly(context);
  const fixture = await Fixture.start(context);
  await fixture.link('+33611111111');
  // Leaf and intermediate in two handshakes, the account's signature, and the device's, which the server checks.
  assert.deepEqual(results, Array(6).fill(true));
});

test('a client refuses a server with another root', async (context) => {
  verifyStrictly(context);
  const fixture = await Fixture.start(context);
  const stranger = Buffer.from(Curve.generateKeyPair().public).toString('base64');
  const client = fixture.keep(new TestClient({ ...fixture.simulator, noiseRootKey: stranger }));
  assert.equal(await client.closed(), 400);
});

test('the chain leads from the static key to the root and stays the same', async (context) => {
  const directory = await mkdtemp(join(tmpdir(), 'simulator-'));
  context.after(() => rm(directory, { recursive: true, force: true }));
  const first = await Journal.open(directory);
  const identity = serverIdentity(first);
  await first.close();
  const secondJournal = await Journal.open(directory);
  assert.deepEqual(serverIdentity(secondJournal), identity);
  await secondJournal.close();
  const { leaf, intermediate } = proto.CertChain.decode(identity.certificateChain);
  const details = proto.CertChain.NoiseCertificate.Details;
  const intermediateDetails = details.decode(intermediate?.details ?? new Uint8Array());
  const leafDetails = details.decode(leaf?.details ?? new Uint8Array());
  assert.deepEqual(Buffer.from(leafDetails.key ?? []), Buffer.from(identity.staticKey.public));
  assert.equal(leafDetails.issuerSerial, intermediateDetails.serial);
  assert.equal(intermediateDetails.issuerSerial, 0);
});
