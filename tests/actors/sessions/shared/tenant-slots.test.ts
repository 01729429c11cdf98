import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TenantSlots } from '../../../../actors/sessions/worker-thread/shared/tenant-slots.ts';

const { signal } = new AbortController();

/** True if a promise is settled once all due work has run. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending');
  await new Promise((resolve) => setImmediate(resolve));
  return (await Promise.race([promise, Promise.resolve(pending)])) !== pending;
}

test('a tenant waits for its own slots, in order, and no other tenant waits for it', async () => {
  const slots = new TenantSlots(2);
  const [first] = [await slots.take('a', signal), await slots.take('a', signal)];
  const [third, fourth] = [slots.take('a', signal), slots.take('a', signal)];
  await slots.take('b', signal);
  assert.deepEqual([await isSettled(third), await isSettled(fourth)], [false, false]);
  first();
  first();
  assert.deepEqual([await isSettled(third), await isSettled(fourth)], [true, false]);
  (await third)();
  assert.equal(await isSettled(fourth), true);
});

test('a caller that gives up while waiting takes no slot', async () => {
  const slots = new TenantSlots(1);
  const release = await slots.take('a', signal);
  const abort = new AbortController();
  const waiting = slots.take('a', abort.signal);
  abort.abort(new Error('given up'));
  await assert.rejects(waiting, /given up/);
  await assert.rejects(slots.take('b', abort.signal), /given up/);
  release();
  (await slots.take('a', signal))();
  (await slots.take('a', signal))();
});
