/** The counters of one node's sessions. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SessionCounters } from '../../../actors/sessions/session-counters.ts';

test('a network that makes up codes of refusals makes a bounded number of counts', () => {
  const counters = new SessionCounters();
  for (let code = 0; code < 1_000; code += 1) counters.countOutcome({ kind: 'refused', code: String(code) });
  counters.countOutcome({ kind: 'refused', code: '7' });
  const { outcomes } = counters.counts();
  assert.equal(outcomes.length, 101);
  assert.deepEqual(
    outcomes.filter(({ code }) => code === '7' || code === 'other').map(({ count }) => count),
    [2, 900],
  );
});

test('a code of a refusal that is no short word is counted as other', () => {
  const counters = new SessionCounters();
  counters.countOutcome({ kind: 'refused', code: 'a text of the network that is long' });
  assert.deepEqual(counters.counts().outcomes, [{ outcome: 'refused', code: 'other', count: 1 }]);
});
