import assert from 'node:assert/strict';
import { it } from 'node:test';
import { gatherEachTick } from '../../http/each-tick.ts';

it('what is told in one turn of the event loop is passed on together when it ends, in order', async () => {
  const received: (readonly number[])[] = [];
  const gathered = gatherEachTick<number>((items) => received.push(items));
  gathered.add(1);
  gathered.add(2);
  await Promise.resolve();
  gathered.add(3);
  assert.deepEqual(received, []);
  await new Promise(setImmediate);
  assert.deepEqual(received, [[1, 2, 3]]);
  gathered.add(4);
  await new Promise(setImmediate);
  assert.deepEqual(received, [[1, 2, 3], [4]]);
});

it('what is passed on at once is not passed on again', async () => {
  const received: (readonly number[])[] = [];
  const gathered = gatherEachTick<number>((items) => received.push(items));
  gathered.add(1);
  gathered.passOn();
  gathered.passOn();
  assert.deepEqual(received, [[1]]);
  gathered.add(2);
  await new Promise(setImmediate);
  assert.deepEqual(received, [[1], [2]]);
});
