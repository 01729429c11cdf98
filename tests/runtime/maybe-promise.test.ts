import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mapMaybePromise, mapOrRecover } from '../../runtime/maybe-promise.ts';

const fail = (): never => {
  throw new Error('no');
};
const messageOf = (thrown: unknown): string => (thrown as Error).message;
const same = <Value>(value: Value): Value => value;

test('a value at hand goes through without a promise', () => {
  assert.equal(
    mapMaybePromise(1, (value) => value + 1),
    2,
  );
  assert.equal(
    mapOrRecover(() => 2, String, messageOf),
    '2',
  );
});

test('a promised value is promised on', async () => {
  const mapped = mapMaybePromise(Promise.resolve(1), (value) => value + 1);
  assert.ok(mapped instanceof Promise);
  assert.equal(await mapped, 2);
  assert.equal(await mapOrRecover(() => Promise.resolve(2), String, messageOf), '2');
});

test('what is thrown at once is recovered at once', () => {
  assert.equal(mapOrRecover(fail, same, messageOf), 'no');
  assert.equal(
    mapOrRecover(() => 1, fail, messageOf),
    'no',
  );
});

test('what is rejected later, or thrown behind a promise, is recovered then', async () => {
  assert.equal(await mapOrRecover(() => Promise.reject(new Error('no')), same, messageOf), 'no');
  assert.equal(await mapOrRecover(() => Promise.resolve(1), fail, messageOf), 'no');
});

test('nothing is recovered where nothing was thrown', async () => {
  assert.equal(await mapOrRecover(() => Promise.resolve('yes'), same, fail), 'yes');
});
