import assert from 'node:assert/strict';
import { test } from 'node:test';
import { violations } from './history-checker.ts';
import { type Sabotage, simulate } from './simulation.ts';

const runs = 2_000;
const steps = 40;
/** Another window of seeds every day, printed with every finding, so that the world grows and a failure comes back. */
const firstSeed = Math.floor(Date.now() / 86_400_000) * runs;

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

test(`in ${runs} worlds of pauses, cuts, kills and clock steps every promise holds`, async () => {
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
