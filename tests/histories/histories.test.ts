/** Half a minute of a history at random, with its seed; an hour of it is run by hand or at night. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testEnvironment } from '../../service/environment.ts';
import { report } from './report.ts';
import { runHistory } from './run-history.ts';

const { seed } = testEnvironment();

test(`tenants, operators, customers and faults at random break no promise (seed ${seed})`, async (context) => {
  const run = await runHistory({ seed, minutes: 0.5, say: (line) => context.diagnostic(line) });
  assert.equal(run.violations.length, 0, report(run));
  assert.ok(run.history.of('accepted').length > 0 && run.history.of('fault').length > 0);
});
