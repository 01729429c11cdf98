import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mapMaybePromise } from '../../runtime/maybe-promise.ts';

test('a plain value is passed on as a plain value', () => {
  assert.equal(
    mapMaybePromise(1, (value) => value + 1),
    2,
  );
});

test('a promised value is passed on as a promise', async () => {
  const mapped = mapMaybePromise(Promise.resolve(1), (value) => value + 1);
  assert.ok(mapped instanceof Promise);
  assert.equal(await mapped, 2);
});
