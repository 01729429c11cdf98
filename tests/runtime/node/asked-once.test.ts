import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AskedOnce } from '../../../runtime/node/asked-once.ts';

test('an id counts once for each sender, in any order of ids', () => {
  const once = new AskedOnce();
  const heard = [1, 3, 2, 3, 1, 2].map((id) => once.isFirst('a', id));
  assert.deepEqual(heard, [true, true, true, false, false, false]);
  assert.equal(once.isFirst('b', 3), true);
});

test('an id that fell far behind counts as seen, and a leap forgets nothing that could come again', () => {
  const once = new AskedOnce();
  const heard = [5, 5_000, 5, 3_976, 3_977, 3_977, 4_999, 6_029, 5_005, 5_006, 6_029, 1_000_000, 6_029];
  const isFirst = heard.map((id) => once.isFirst('a', id));
  assert.deepEqual(isFirst, [
    ...[true, true, false, false, true, false, true],
    ...[true, false, true, false, true, false],
  ]);
});

test('a value that is not an id is never the first', () => {
  const once = new AskedOnce();
  assert.deepEqual(
    [Number.NaN, 0, -1, 1.5, 2 ** 53].map((id) => once.isFirst('a', id)),
    [false, false, false, false, false],
  );
});
