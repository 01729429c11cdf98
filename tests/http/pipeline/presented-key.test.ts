/** The hash of a presented key: that of the key's text, in whichever way a request carries the key. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { hashOfKey, presentedKey } from '../../../http/pipeline/presented-key.ts';

const keyOf = (number: number): string => `tm_live_${String(number).padStart(43, '0')}`;

test('2,500 keys, looked up in rotation twice: each has the SHA-256 of its text', () => {
  for (let round = 0; round < 2; round += 1) {
    for (let number = 0; number < 2_500; number += 1) {
      const key = keyOf(number);
      const digest = createHash('sha256').update(key).digest('hex');
      assert.equal(hashOfKey(key), digest);
      assert.equal(hashOfKey(key), digest, 'as remembered');
    }
  }
});

test('a malformed key has no hash', () => {
  for (const key of ['', 'tm_live_', `${keyOf(1)} `, `x${keyOf(1)}`, 'a'.repeat(8_000)])
    assert.equal(hashOfKey(key), undefined);
});

test('however a request carries a key, its hash is that of the key, and no other header replaces it', () => {
  const key = keyOf(7);
  const digest = createHash('sha256').update(key).digest('hex');
  const none = {
    contentType: '',
    requestId: '',
    traceparent: '',
    idempotencyKey: '',
    lastEventId: '',
    takesEvents: false,
  };
  const hashOf = (authorization: string, apiKey = '') =>
    hashOfKey(presentedKey({ ...none, authorization, apiKey }) ?? '');
  const basic = `Digest ${keyOf(8)}`;
  for (const header of [`Bearer ${key}`, `bearer ${key}`, `BEARER   ${key} `])
    assert.equal(hashOf(header), digest);
  assert.equal(hashOf('', key), digest);
  assert.equal(hashOf(basic, key), digest);
  for (const header of ['', key, basic, `Bearer ${key}x y`, `Digest ${key}`])
    assert.equal(hashOf(header), undefined);
});
