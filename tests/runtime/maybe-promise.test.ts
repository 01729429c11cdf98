import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mapMaybePromise, settleMaybePromise } from '../../runtime/maybe-promise.ts';

test('a plain value is passed on without a promise', () => {
  assert.equal(
    mapMaybePromise(1, (value) => value + 1),
    2,
  );
});

test('a promised value is promised on', async () => {
  const mapped = mapMaybePromise(Promise.resolve(1), (value) => value + 1);
  assert.ok(mapped instanceof Promise);
  assert.equal(await mapped, 2);
});

test('what is thrown, now or later, leads to the other end, and what an end throws is not caught', async () => {
  const fails = (): never => {
    throw new Error('broken');
  };
  const next = (value: number): string => `${value}`;
  const failed = (thrown: unknown): string => (thrown as Error).message;
  assert.equal(
    settleMaybePromise(() => 1, next, failed),
    '1',
  );
  assert.equal(settleMaybePromise<number, string>(fails, next, failed), 'broken');
  assert.equal(await settleMaybePromise(() => Promise.resolve(1), next, failed), '1');
  assert.equal(
    await settleMaybePromise<number, string>(() => Promise.reject(new Error('broken')), next, failed),
    'broken',
  );
  assert.throws(() => settleMaybePromise(() => 1, fails, failed), /broken/);
  await assert.rejects(async () => settleMaybePromise(() => Promise.resolve(1), fails, failed), /broken/);
});
