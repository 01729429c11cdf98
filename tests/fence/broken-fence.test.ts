/**
 * Late commits with two broken copies of the runtime: without the fence, and with the effect before the commit. Both
 * must be detected.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { effectBeforeCommit, withoutFence } from './broken-runtime.ts';
import { journalOf, LATE_COMMITS } from './late-commit.ts';

for (const [name, story] of LATE_COMMITS) {
  test(`without the fence ${name} turns the shard back`, async () => {
    const { violations } = await journalOf(story, withoutFence);
    assert.match(violations.join('\n'), /^\{s\d+\}:owner went from /m);
  });

  test(`with the effect before the commit, ${name} leaves an effect without its commit`, async () => {
    const { violations } = await journalOf(story, effectBeforeCommit);
    assert.match(violations.join('\n'), /the effect of late-0 came without its commit/);
  });
}
