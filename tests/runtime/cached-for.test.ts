import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cachedFor } from '../../runtime/memoize.ts';
import { FakeClock } from '../testbed/fake-clock.ts';

test('calls during a computation or soon after it share its result; a failure is not cached', async () => {
  const clock = new FakeClock();
  let asked = 0;
  let fails = true;
  const ask = cachedFor(
    async () => {
      asked += 1;
      if (fails) throw new Error('not now');
      return asked;
    },
    { clock, keptMs: 1_000 },
  );
  const together = await Promise.allSettled([ask(), ask()]);
  assert.deepEqual([asked, together.map(({ status }) => status)], [1, ['rejected', 'rejected']]);
  fails = false;
  assert.deepEqual(await Promise.all([ask(), ask()]), [2, 2]);
  await clock.advance(999);
  assert.equal(await ask(), 2);
  await clock.advance(1);
  assert.deepEqual(await Promise.all([ask(), ask()]), [3, 3], 'the next answer is shared like the first');
});
