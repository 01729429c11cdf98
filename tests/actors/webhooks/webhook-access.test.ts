import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstProgress } from '../../../actors/webhooks/progress.ts';
import { webhookAccess } from '../../../actors/webhooks/webhook-access.ts';
import type { Actors } from '../../../runtime/actors.ts';
import type { Read, Store } from '../../../runtime/store.ts';

/** The most pieces that the event loop can take at a time: 60 KB each. */
const MOST_AT_A_TIME = 20;

test('the progress of 1,000 endpoints is read a few at a time, one read after the other', async () => {
  const storedText = JSON.stringify(firstProgress({ since: '1-1', enabledAtMs: 0 }));
  const asked: number[] = [];
  let underWay = 0;
  let mostUnderWay = 0;
  const read = async (reads: readonly Read[]): Promise<unknown[]> => {
    underWay += 1;
    mostUnderWay = Math.max(mostUnderWay, underWay);
    await Promise.resolve();
    underWay -= 1;
    return reads.map(([, , ...ids]) => {
      asked.push(ids.length);
      // An endpoint that got no event yet has none.
      return ids.map((id) => (id === 'hook-7' ? null : storedText));
    });
  };
  const unused: Pick<Actors, 'ask' | 'state'> = { ask: () => assert.fail(), state: () => assert.fail() };
  const actors = unused as Actors;
  const { progressOf } = webhookAccess({ actors, store: { read: read as Store['read'] } });
  const ids = Array.from({ length: 1_000 }, (_, n) => `hook-${n}`);

  const progress = await progressOf('66b1f0a2c3d4e5f60718293a', ids);

  assert.deepEqual(
    [...progress.keys()],
    ids.filter((id) => id !== 'hook-7'),
  );
  assert.equal(
    asked.reduce((sum, count) => sum + count, 0),
    1_000,
  );
  assert.ok(Math.max(...asked) <= MOST_AT_A_TIME, `${Math.max(...asked)} at a time`);
  assert.equal(mostUnderWay, 1);
});
