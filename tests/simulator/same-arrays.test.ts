import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sameArrays } from '../../simulator/handsets/same-arrays.ts';

test('arrays of the same bytes are one array, as long as it was used recently', () => {
  const same = sameArrays(2);
  const bytes = (first: number): Uint8Array => Uint8Array.of(first, 200, 255);
  const firstBytes = bytes(1);
  assert.equal(same(firstBytes), firstBytes);
  assert.equal(same(Buffer.from(firstBytes)), firstBytes);
  const two = same(bytes(2));
  assert.notEqual(two, firstBytes);
  assert.equal(same(bytes(1)), firstBytes);
  same(bytes(3));
  assert.equal(same(bytes(1)), firstBytes);
  assert.notEqual(same(bytes(2)), two);
});

test('bytes in the middle of a buffer are those alone', () => {
  const same = sameArrays(2);
  const wholeBytes = Uint8Array.of(1, 2, 3, 4);
  assert.equal(same(wholeBytes.subarray(1, 3)), same(Uint8Array.of(2, 3)));
});
