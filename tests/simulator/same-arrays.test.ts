import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sameArrays } from '../../simulator/handsets/same-arrays.ts';

test('arrays of the same bytes are one array, as long as it was used recently', () => {
  const same = sameArrays(2);
  const bytes = (of: number): Uint8Array => Uint8Array.of(of, 200, 255);
  const one = bytes(1);
  assert.equal(same(one), one);
  assert.equal(same(Buffer.from(one)), one);
  const two = same(bytes(2));
  assert.notEqual(two, one);
  assert.equal(same(bytes(1)), one);
  same(bytes(3));
  assert.equal(same(bytes(1)), one);
  assert.notEqual(same(bytes(2)), two);
});

test('bytes in the middle of a buffer are those alone', () => {
  const same = sameArrays(2);
  const whole = Uint8Array.of(1, 2, 3, 4);
  assert.equal(same(whole.subarray(1, 3)), same(Uint8Array.of(2, 3)));
});
