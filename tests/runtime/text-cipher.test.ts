/** Nodes seal texts for each other. Each process has a key of its own, and uses no nonce twice with it. */
import assert from 'node:assert/strict';
import { createCipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { textCipher } from '../../runtime/text-cipher.ts';

const SALT_BYTES = 16;
const NONCE_END = SALT_BYTES + 12;

const saltOf = (sealed: string): string => Buffer.from(sealed, 'base64').toString('hex', 0, SALT_BYTES);
const nonceOf = (sealed: string): string =>
  Buffer.from(sealed, 'base64').toString('hex', SALT_BYTES, NONCE_END);

test('two processes with one secret never seal under the same key, and open what the other sealed', () => {
  const secret = randomBytes(32);
  const [firstCipher, otherCipher] = [textCipher([secret], 'link'), textCipher([secret], 'link')];
  const [first, second, third] = [
    firstCipher.seal('ask', 'hello'),
    firstCipher.seal('ask', 'hello'),
    otherCipher.seal('ask', 'hello'),
  ];
  assert.equal(saltOf(first), saltOf(second), 'a process has one salt');
  assert.notEqual(saltOf(first), saltOf(third));
  assert.deepEqual([otherCipher.open('ask', first), firstCipher.open('ask', third)], ['hello', 'hello']);
  // The key depends on the salt, so no key opens the text with the salt of another process.
  const movedBytes = Buffer.from(first, 'base64');
  Buffer.from(third, 'base64').copy(movedBytes, 0, 0, SALT_BYTES);
  assert.throws(() => otherCipher.open('ask', movedBytes.toString('base64')), /not ours/);
});

test('the nonces of a process count, so none comes twice', () => {
  const { seal } = textCipher([randomBytes(32)], 'link');
  const nonces = Array.from({ length: 1_000 }, (_, index) => nonceOf(seal('ask', `${index}`)));
  assert.deepEqual(
    nonces,
    nonces.map((_, index) => index.toString(16).padStart(24, '0')),
  );
});

test('a text opens for its purpose and its use alone, and with any of the secrets', () => {
  const [oldBytes, next] = [randomBytes(32), randomBytes(32)];
  const sealed = textCipher([oldBytes, next], 'link').seal('ask', 'hello');
  assert.equal(textCipher([next, oldBytes], 'link').open('ask', sealed), 'hello');
  assert.throws(() => textCipher([next], 'link').open('ask', sealed), /not ours/);
  assert.throws(() => textCipher([oldBytes], 'dead-letters').open('ask', sealed), /not ours/);
  assert.throws(() => textCipher([oldBytes], 'link').open('answer', sealed), /not ours/);
  assert.throws(() => textCipher([oldBytes], 'link').open('ask', ''), /not ours/);
});

test('texts with unknown salts are refused, and the next ones still open', () => {
  const secret = randomBytes(32);
  const sealed = textCipher([secret], 'link').seal('ask', 'hello');
  const { open, seal } = textCipher([secret], 'link');
  for (let forged = 0; forged < 1_000; forged += 1)
    assert.throws(() => open('ask', randomBytes(80).toString('base64')), /not ours/);
  assert.equal(open('ask', sealed), 'hello');
  assert.equal(open('ask', seal('ask', 'own')), 'own');
});

test('a text that 0.1.0 sealed without a salt still opens, for its use alone, and counts as old', () => {
  const [secret, newestBytes] = [randomBytes(32), randomBytes(32)];
  const nonce = randomBytes(12);
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'dead-letters', 32));
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from('id'));
  const body = Buffer.concat([cipher.update('{"type":"send"}', 'utf8'), cipher.final()]);
  const sealed = Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64');
  const { open, isNewest } = textCipher([newestBytes, secret], 'dead-letters');
  assert.equal(open('id', sealed), '{"type":"send"}');
  assert.equal(isNewest('id', sealed), false);
  assert.throws(() => open('other', sealed), /not ours/);
  assert.throws(() => textCipher([secret], 'numbers').open('id', sealed), /not ours/);
  assert.throws(() => textCipher([newestBytes], 'dead-letters').open('id', sealed), /not ours/);
  // This is shorter than a salt, a nonce and a tag.
  assert.throws(() => open('id', 'AAAA'), /not ours/);
});
