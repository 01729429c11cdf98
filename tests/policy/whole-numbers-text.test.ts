import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeWholeNumbers, encodeWholeNumbers } from '../../policy/limits/whole-numbers-text.ts';
import { propertyRuns } from '../testbed/property-runs.ts';

test('any whole numbers are read as they were written', (context) => {
  fc.assert(
    fc.property(fc.array(fc.maxSafeNat()), (numbers) => {
      assert.deepEqual(decodeWholeNumbers(encodeWholeNumbers(numbers)), numbers);
    }),
    propertyRuns(context, 1_000),
  );
});

test('small numbers take one character, a day in milliseconds six', () => {
  assert.equal(encodeWholeNumbers([0, 31]).length, 2);
  assert.equal(encodeWholeNumbers([32]).length, 2);
  assert.equal(encodeWholeNumbers([86_400_000]).length, 6);
});

test('a text that is cut short or not of this alphabet is not read', () => {
  assert.throws(() => decodeWholeNumbers('g'), /cut short/);
  assert.throws(() => decodeWholeNumbers('A!'), /not readable/);
});
