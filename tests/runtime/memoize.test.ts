import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoize } from '../../runtime/memoize.ts';

test('a value is made once for each key, until there would be more than the limit', () => {
  let made = 0;
  const value = memoize(4, (key: string) => {
    made += 1;
    return `value of ${key}`;
  });
  const askAll = (keys: string): number => {
    made = 0;
    for (const key of keys) assert.equal(value(key), `value of ${key}`);
    return made;
  };
  assert.equal(askAll('abcdabcd'), 4);
  assert.equal(askAll('e'), 1, 'the fifth, for which all others go');
  assert.equal(askAll('abce'), 3, 'none twice while there is room');
});
