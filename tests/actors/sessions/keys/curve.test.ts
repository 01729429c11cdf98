import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import * as libsignal from 'libsignal/src/curve.js';
import {
  agree,
  agreeOnceRead,
  generateSignalKeyPair,
  isSignedBy,
} from '../../../../actors/sessions/worker-thread/keys/curve.ts';
import { moduleFile, nodeFlags } from '../../../testbed/root.ts';

const RANDOM_PAIRS = 200;
/** With this number of pairs, Node 20 certainly blocks if a pair is exported after the call that made it. */
const PAIRS_IN_A_ROW = 50_000;

const hex = (text: string): Buffer => Buffer.from(text, 'hex');
const marked = (publicKey: Buffer): Buffer => Buffer.concat([Buffer.from([5]), publicKey]);
const flipped = (bytes: Uint8Array, bit: number): Buffer => {
  const copy = Buffer.from(bytes);
  const byte = Math.floor(bit / 8);
  copy.writeUInt8(copy.readUInt8(byte) ^ (1 << (bit % 8)), byte);
  return copy;
};

test('the published agreements come out (RFC 7748, 5.2 and 6.1)', () => {
  const vectors = [
    [
      'e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c',
      'a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4',
      'c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552',
    ],
    [
      'e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493',
      '4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d',
      '95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957',
    ],
    [
      '8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a',
      '5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb',
      '4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742',
    ],
  ];
  for (const [publicKey = '', privateKey = '', secret = ''] of vectors) {
    assert.equal(agree(hex(publicKey), hex(privateKey)).toString('hex'), secret);
    assert.equal(agree(marked(hex(publicKey)), hex(privateKey)).toString('hex'), secret);
  }
  // After one iteration (5.2), from u = 9.
  const base = hex('0900000000000000000000000000000000000000000000000000000000000000');
  assert.equal(
    agree(base, base).toString('hex'),
    '422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079',
  );
});

test('random pairs agree byte by byte with libsignal, its pairs here and ours there', () => {
  for (let round = 0; round < RANDOM_PAIRS; round += 1) {
    const ownPair = generateSignalKeyPair();
    const theirs = libsignal.generateKeyPair();
    const [ourPrivate, theirPublic] = [ownPair.privKey, Buffer.from(theirs.pubKey)];
    const secret = agree(theirPublic, ourPrivate);
    assert.ok(secret.equals(libsignal.calculateAgreement(theirPublic, ourPrivate)));
    assert.ok(secret.equals(agree(ownPair.pubKey, theirs.privKey)));
  }
});

test('keys that were read once agree again and again, with one another and in other arrays', () => {
  const pairs = Array.from({ length: 3 }, generateSignalKeyPair);
  for (const { privKey } of pairs) {
    for (const { pubKey } of pairs) {
      const secret = agree(pubKey, privKey);
      for (let round = 0; round < 2; round += 1) assert.ok(secret.equals(agreeOnceRead(pubKey, privKey)));
      assert.ok(secret.equals(agreeOnceRead(pubKey.subarray(1), Buffer.from(privKey))));
    }
  }
  const [{ pubKey, privKey } = generateSignalKeyPair()] = pairs;
  assert.throws(() => agreeOnceRead(pubKey, privKey.subarray(1)), /a private key has 32 bytes/);
  assert.throws(() => agreeOnceRead(pubKey.subarray(2), privKey), /a public key has 32 bytes/);
  assert.throws(() => agreeOnceRead(Buffer.alloc(32), privKey));
});

test('keys of another length or mark are refused, for any bytes', () => {
  const { pubKey, privKey } = generateSignalKeyPair();
  for (const wrong of [
    Buffer.alloc(0),
    pubKey.subarray(2),
    marked(pubKey),
    Buffer.concat([Buffer.from([6]), pubKey.subarray(1)]),
  ]) {
    assert.throws(() => agree(wrong, privKey), /a public key has 32 bytes/);
    assert.throws(() => isSignedBy(wrong, pubKey, randomBytes(64)), /a public key has 32 bytes/);
  }
  for (const wrong of [Buffer.alloc(0), privKey.subarray(1), Buffer.concat([privKey, Buffer.alloc(1)])])
    assert.throws(() => agree(pubKey, wrong), /a private key has 32 bytes/);
});

/** Every encoding in 32 bytes of a point of order 1, 2, 4 or 8 (https://cr.yp.to/ecdh.html#validate). */
const LOW_ORDER = [
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800',
  '5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
];

test('points of low order give no agreement and no signature', () => {
  const { privKey } = generateSignalKeyPair();
  for (const point of LOW_ORDER) {
    for (const key of [hex(point), flipped(hex(point), 255)]) {
      assert.throws(() => agree(key, privKey), point);
      // s = 0 and R the key itself, or the neutral point, satisfy the equation for many a message.
      for (const start of [key, hex(LOW_ORDER[1] ?? '')]) {
        const forged = Buffer.concat([start, Buffer.alloc(32)]);
        for (let message = 0; message < 16; message += 1)
          assert.equal(isSignedBy(key, Buffer.from([message]), forged), false);
      }
    }
  }
});

test('signatures are valid if libsignal’s own check accepts them, and no others', () => {
  for (let round = 0; round < 12; round += 1) {
    const { pubKey, privKey } = generateSignalKeyPair();
    const message = randomBytes(1 + round * 7);
    const signature = Buffer.from(libsignal.calculateSignature(privKey, message));
    const bit = Math.floor((round * 512) / 12) + 3;
    const cases: readonly (readonly [Buffer, Buffer, Buffer])[] = [
      [pubKey, message, signature],
      [pubKey, flipped(message, 0), signature],
      [pubKey, message, flipped(signature, bit)],
      [generateSignalKeyPair().pubKey, message, signature],
    ];
    for (const [key, text, sign] of cases)
      assert.equal(isSignedBy(key, text, sign), libsignal.verifySignature(key, text, sign));
    assert.equal(isSignedBy(pubKey, message, signature), true);
    assert.equal(isSignedBy(pubKey.subarray(1), message, signature), true);
    assert.equal(isSignedBy(pubKey, message, signature.subarray(1)), false);
    assert.equal(isSignedBy(pubKey, message, randomBytes(64)), false);
  }
});

test('a signature is not read in a second way: s stays below the order of the group', () => {
  const { pubKey, privKey } = generateSignalKeyPair();
  const message = randomBytes(20);
  const signature = Buffer.from(libsignal.calculateSignature(privKey, message));
  const order = 2n ** 252n + 27742317777372353535851937790883648493n;
  const scalar = BigInt(`0x${Buffer.from(signature.subarray(32)).reverse().toString('hex')}`);
  const sign = scalar & (1n << 255n);
  const other = (scalar & ((1n << 255n) - 1n)) + order;
  const bytes = Buffer.from((other | sign).toString(16).padStart(64, '0'), 'hex').reverse();
  assert.equal(isSignedBy(pubKey, message, Buffer.concat([signature.subarray(0, 32), bytes])), false);
});

test('key pairs are made while garbage is collected, again and again', () => {
  const program = `
    import { generateSignalKeyPair } from ${JSON.stringify(moduleFile('actors/sessions/worker-thread/keys/curve.ts'))};
    for (let count = 0; count < ${PAIRS_IN_A_ROW}; count += 1) generateSignalKeyPair();
  `;
  // A thread that is blocked in Node's own locks can only be ended with its process.
  const { status, signal, stderr } = spawnSync(
    process.execPath,
    ['--max-semi-space-size=1', ...nodeFlags, '--input-type=module', '--eval', program],
    { timeout: 60_000, killSignal: 'SIGKILL', encoding: 'utf8' },
  );
  assert.deepEqual({ status, signal }, { status: 0, signal: null }, stderr);
});
