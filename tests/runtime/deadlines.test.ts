import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Deadlines } from '../../runtime/deadlines.ts';
import { FakeClock } from '../testbed/fake-clock.ts';

test('items of one moment end together, in the order of their addition, without a cancelled one', async () => {
  const clock = new FakeClock();
  const ended: string[] = [];
  const deadlines = new Deadlines<string>(clock, 10, (item) => ended.push(item));
  deadlines.add('first', 12);
  const second = deadlines.add('second', 18);
  deadlines.add('third', 15);
  second.cancel();
  await clock.advance(19);
  assert.deepEqual(ended, []);
  await clock.advance(1);
  assert.deepEqual(ended, ['first', 'third']);
});

test('an item that is added while its moment passes is ended by the next call, though an older one was cancelled', () => {
  const ended: string[] = [];
  const deadlines = new Deadlines<string>(new FakeClock(), 10, (item) => {
    ended.push(item);
    if (item !== 'first') return;
    deadlines.add('added', 10);
    last.cancel();
  });
  deadlines.add('first', 10);
  const last = deadlines.add('last', 10);
  deadlines.endAll();
  assert.deepEqual(ended, ['first']);
  deadlines.endAll();
  assert.deepEqual(ended, ['first', 'added']);
});
