import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Run, Target } from '../../bench/harness/bench.ts';
import { brokenLimits, judge } from '../../bench/harness/targets.ts';

const runs = [3, 7].map((longestRedisMs, index) => {
  return { side: 'a shop erased', round: index + 1, figures: { longestRedisMs, perSecond: 10 } } as Run;
});
const broken = (target: Target): number => brokenLimits(judge([target], runs)).length;

test('one round beyond a bound breaks it, and one round never breaks a ratio of sides', () => {
  const over = { kind: 'never over', figure: 'longestRedisMs', aim: 2 } as const;
  assert.deepEqual([broken({ ...over, must: 5 }), broken({ ...over, must: 7 })], [1, 0]);
  const under = { kind: 'never under', figure: 'longestRedisMs', aim: 9 } as const;
  assert.deepEqual([broken({ ...under, must: 5 }), broken({ ...under, must: 3 })], [1, 0]);
  const ratio = {
    kind: 'at most',
    figure: 'perSecond',
    side: 'a shop erased',
    against: 'a shop erased',
  } as const;
  assert.equal(broken({ ...ratio, must: 0.5, aim: 0.1 }), 0);
  assert.equal(judge([{ ...ratio, must: 0.5, aim: 0.1 }], runs)[0]?.grade, 'missed');
});
