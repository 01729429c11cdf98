/** The hash of a presented key: the same for as long as hashes are remembered and after they were forgotten. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { hashOfKey, presentedHash } from '../../http/pipeline/presented-key.ts';

const keyOf = (number: number): string => `tm_live_${String(number).padStart(43, '0')}`;

test('2,500 keys, looked up in rotation three times: each has the SHA-256 of its text', () => {
  for (let round = 0; round < 3; round += 1)
    for (let number = 0; number < 2_500; number += 1) {
      const key = keyOf(number);
      assert.equal(hashOfKey(key), createHash('sha256').update(key).digest('hex'));
      assert.equal(hashOfKey(key), createHash('sha256').update(key).digest('hex'), 'as remembered');
    }
});

test('a malformed key has no hash, on the first and on later look-ups', () => {
  for (const key of ['', 'tm_live_', `${keyOf(1)} `, `x${keyOf(1)}`, 'a'.repeat(8_000)])
    for (let round = 0; round < 2; round += 1) assert.equal(hashOfKey(key), undefined);
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
  const hashOf = (authorization: string, apiKey = '') => presentedHash({ ...none, authorization, apiKey });
  const basic = `Digest ${keyOf(8)}`;
  for (let round = 0; round < 2; round += 1) {
    for (const header of [`Bearer ${key}`, `bearer ${key}`, `BEARER   ${key} `])
      assert.equal(hashOf(header), digest);
    assert.equal(hashOf('', key), digest);
    assert.equal(hashOf(basic, key), digest);
    for (const header of ['', key, basic, `Bearer ${key}x y`, `Digest ${key}`])
      assert.equal(hashOf(header), undefined);
  }
});
