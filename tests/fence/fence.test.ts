/**
 * The fence, in processes of their own. A commit is kept on its line until its shard has gone on without it, and then
 * delivered; and nodes under load are paused, blocked, cut off, killed and given wrong clocks at random moments. What
 * happened is read from Redis's append-only file. Everything is done once more to copies of the runtime, one without
 * the fence and one with the effect before the commit, and is expected to find them out. TEST_SEED repeats the random
 * moments.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Breakage, effectBeforeCommit, withoutFence } from './broken-runtime.ts';
import type { Journal } from './journal.ts';
import { type JournalWorld, startJournalWorld } from './journal-world.ts';
import { commitAfterItsConnection, commitAfterTakeOver } from './late-commit.ts';

type Story = (world: JournalWorld) => Promise<void>;

/** Plays a story and reads what it left behind. */
async function journalOf(story: Story, breakage?: Breakage): Promise<Journal> {
  const world = await startJournalWorld(breakage);
  try {
    await story(world);
    return await world.end();
  } finally {
    await world.stop();
  }
}

const stories: readonly (readonly [name: string, story: Story])[] = [
  ['a commit that arrives after another node took the shard', commitAfterTakeOver],
  ['a commit that arrives after its connection was given up', commitAfterItsConnection],
];
for (const [name, story] of stories) {
  test(`${name} is refused, and had no effect`, async () => {
    const { violations, committed } = await journalOf(story);
    assert.deepEqual(violations, []);
    assert.ok(!committed.has('late-0'));
  });

  test(`without the fence ${name} turns the shard back`, async () => {
    const { violations } = await journalOf(story, withoutFence);
    assert.match(violations.join('\n'), /^\{s\d+\}:owner went from /m);
  });

  test(`with the effect before the commit ${name} had one`, async () => {
    const { violations } = await journalOf(story, effectBeforeCommit);
    assert.match(violations.join('\n'), /the effect of late-0 came without its commit/);
  });
}
