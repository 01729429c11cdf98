import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testEnvironment } from '../testbed/test-environment.ts';
import { violations } from './history-checker.ts';
import { type Sabotage, simulate } from './simulation.ts';

/** The gate runs the same worlds each time. `npm run simulation` runs other worlds every night. */
const { seed: firstSeed, runs = 300 } = testEnvironment();
const steps = 40;

async function findings(
  sabotage: Sabotage,
  count: number,
): Promise<{ found: string[]; acknowledged: number; takeOvers: number }> {
  const found: string[] = [];
  let acknowledged = 0;
  let takeOvers = 0;
  for (let seed = firstSeed; seed < firstSeed + count; seed += 1) {
    const run = await simulate(seed, steps, sabotage);
    acknowledged += run.acknowledged.length;
    takeOvers += run.takeOvers;
    for (const finding of [...violations(run), ...run.unanswered]) found.push(`seed ${seed}: ${finding}`);
  }
  return { found, acknowledged, takeOvers };
}

test(`every promise is kept in ${runs} worlds of pauses, cuts, kills and clock steps, from seed ${firstSeed} on`, async () => {
  const { found, acknowledged, takeOvers } = await findings('none', runs);
  assert.deepEqual(found, []);
  assert.ok(acknowledged > runs * 20, `only ${acknowledged} commands were acknowledged`);
  assert.ok(takeOvers > runs * 8, `only ${takeOvers} shards changed hands`);
});

test('without the fence the checker goes red', async () => {
  const { found } = await findings('no fence', 60);
  assert.notDeepEqual(found, []);
});

test('with the effect before the commit the checker goes red', async () => {
  const { found } = await findings('effect before commit', 5);
  assert.ok(found.some((finding) => finding.includes('before its commit')));
});
