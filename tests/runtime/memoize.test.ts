import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoizePairs } from '../../runtime/memoize.ts';

test('all pairs together have one limit of remembered values', () => {
  let made = 0;
  const value = memoizePairs(4, (first: string, second: number) => {
    made += 1;
    return `${first}${second}`;
  });
  const askAll = (pairs: readonly (readonly [string, number])[]): number => {
    made = 0;
    for (const [first, second] of pairs) assert.equal(value(first, second), `${first}${second}`);
    return made;
  };
  const four = [
    ['a', 1],
    ['a', 2],
    ['b', 1],
    ['c', 1],
  ] as const;
  assert.equal(askAll([...four, ...four]), 4);
  assert.equal(askAll([['a', 3]]), 1, 'the fifth, for which all others go');
  assert.equal(askAll([...four.slice(0, 3), ['a', 3]]), 3, 'none twice while there is room');
});
