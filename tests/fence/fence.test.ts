/**
 * The fence, with nodes in separate processes. A commit is kept on its connection until its shard has moved on, and is
 * then delivered. Nodes under load are paused, blocked, cut off, killed and given wrong clocks at random moments, and
 * Redis is killed once. The history is read from Redis's append-only file. `broken-fence.test.ts` shows that broken
 * copies of the runtime are detected. The storm detected them too with every tried seed (`withoutFence` 1 to 4,
 * `effectBeforeCommit` 1 and 2). TEST_SEED repeats the moments of a storm, TEST_RUNS sets how many there are.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MINUTE_MS } from '../../runtime/durations.ts';
import { seededRandom } from '../testbed/seeded-random.ts';
import { testEnvironment } from '../testbed/test-environment.ts';
import { startJournalWorld } from './journal-world.ts';
import { journalOf, LATE_COMMITS } from './late-commit.ts';
import { calm, storm } from './storm.ts';

/** Fewer would show little. On two cores with nothing else to do a storm of eight seconds has thousands. */
const LEAST_ACKNOWLEDGED = 500;

const { seed, runs = 1 } = testEnvironment();

for (const [name, story] of LATE_COMMITS) {
  test(`${name} is refused, and had no effect`, async () => {
    const { violations, committed } = await journalOf(story);
    assert.deepEqual(violations, []);
    assert.ok(!committed.has('late-0'));
  });
}

test('a node whose clock is wrong answers no call until it rests, and a failed wait shows its clock', async (context) => {
  const world = await startJournalWorld();
  context.after(() => world.stop());
  const node = await world.start('a');
  await world.untilAnswered(3);
  await node.order({ type: 'step wall clock', byMs: MINUTE_MS });
  await world.untilOwned(3, undefined);
  await assert.rejects(world.untilAnswered(3, { withinMs: 1 }), /record: - .*"clockAheadMs":\d{5},/s);
  await node.order({ type: 'rest' });
  await world.untilAnswered(3);
});

for (let run = 0; run < runs; run += 1) {
  test(`in a storm every command takes effect once, on the node that committed it (seed ${seed + run})`, async (context) => {
    const random = seededRandom(seed + run);
    const { violations, ...figures } = await journalOf(async (world) => {
      await storm(world, { random, forMs: 8_000, leastAcknowledged: LEAST_ACKNOWLEDGED });
      await calm(world);
    });
    context.diagnostic(JSON.stringify({ ...figures, committed: figures.committed.size }));
    assert.deepEqual(violations.slice(0, 10), []);
    assert.ok(
      figures.acknowledged > LEAST_ACKNOWLEDGED,
      `only ${figures.acknowledged} commands were acknowledged`,
    );
    assert.ok(figures.epochs > 128 * 5, `only ${figures.epochs} times a shard changed hands`);
  });
}
