import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { groupFingerprint, mediaFingerprint, textFingerprint } from '../../policy/text-fingerprint.ts';
import { propertyRuns } from '../testbed/property-runs.ts';

describe('identical text (docs/contract.md, Messages to numbers)', () => {
  for (const [name, left, right] of [
    ['case', 'Sale TODAY', 'sale today'],
    ['every capital', 'AZ', 'az'],
    ['white space around', '\n sale\t', 'sale'],
    ['white space within', 'sale \u00a0\n today', 'sale today'],
    [
      'white space of every kind',
      'a\u1680b\u2028c\u2029d\ufeffe\u3000f\vg\fh\ri\u00e9',
      'a b c d e f g h i\u00e9',
    ],
    ['compatible characters', '\uff33\uff41\ufb01', 'Safi'],
    ['composition', 'caf\u00e9', 'cafe\u0301'],
    ['sharp s', 'Stra\u00dfe', 'STRASSE'],
    ['sigma', '\u03c3\u03bf\u03c6\u03cc\u03c2', '\u03a3\u039f\u03a6\u038c\u03a3'],
    ['cyrillic case', '\u041f\u0440\u0438\u0432\u0435\u0442', '\u043f\u0440\u0438\u0432\u0435\u0442'],
  ] as const) {
    test(`${name} makes no difference`, () =>
      assert.deepEqual(textFingerprint(left), textFingerprint(right)));
  }

  for (const [name, left, right] of [
    ['accents', 'cafe', 'caf\u00e9'],
    ['punctuation', 'sale', 'sale.'],
    ['a space', 'to day', 'today'],
    ['a space between all, or one', 'a b c', 'a bc'],
    ['order', 'ab', 'ba'],
    ['length', 'a', 'aa'],
    ['neighbours of capitals', '@[', '`{'],
    ['controls that are no white space', 'a\u0008b', 'a\u000eb'],
  ] as const)
    test(`${name} does make one`, () => assert.notDeepEqual(textFingerprint(left), textFingerprint(right)));
});

test('an attachment is known to the letter, and never taken for a text or a group', () => {
  assert.deepEqual(mediaFingerprint('https://a.example/A'), mediaFingerprint('https://a.example/A'));
  assert.notDeepEqual(mediaFingerprint('https://a.example/A'), mediaFingerprint('https://a.example/a'));
  assert.notDeepEqual(mediaFingerprint('x'), textFingerprint('x'));
  assert.notDeepEqual(mediaFingerprint('x'), groupFingerprint('x'));
});

test('texts that normalise alike have one fingerprint, others have two', (context) => {
  const normalised = (text: string) =>
    text.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC').trim().replace(/\s+/gu, ' ');
  const text = fc.string({
    unit: fc.constantFrom('a', 'A', ' ', '\n', '\u00e9', 'e\u0301', '\u00a0', '\u00df', 'ss'),
  });
  fc.assert(
    fc.property(text, text, (left, right) => {
      const isSame = JSON.stringify(textFingerprint(left)) === JSON.stringify(textFingerprint(right));
      assert.equal(isSame, normalised(left) === normalised(right));
    }),
    propertyRuns(context, 2_000),
  );
});

test('200,000 texts that differ in little share no fingerprint, and either half only as often as chance has it', () => {
  const both = new Set<string>();
  const highs = new Set<number>();
  const lows = new Set<number>();
  const count = 200_000;
  const everSet = [0, 0];
  const alwaysSet = [-1, -1];
  for (let index = 0; index < count; index += 1) {
    const { high, low } = textFingerprint(`Your order ${index} is ready, code ${(index * 7919) % 10_007}`);
    both.add(`${high}.${low}`);
    highs.add(high);
    lows.add(low);
    for (const [half, bits] of [high, low].entries()) {
      everSet[half] = (everSet[half] as number) | bits;
      alwaysSet[half] = (alwaysSet[half] as number) & bits;
    }
  }
  assert.equal(both.size, count);
  assert.deepEqual(
    [everSet, alwaysSet],
    [
      [-1, -1],
      [0, 0],
    ],
    'every bit takes part',
  );
  // Chance has 4.7 pairs in 32 bits; 30 would have odds below 1 in 10^13.
  assert.ok(count - highs.size < 30, `${count - highs.size} pairs in the upper half`);
  assert.ok(count - lows.size < 30, `${count - lows.size} pairs in the lower half`);
});
