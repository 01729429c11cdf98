import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OfflineBacklog } from '../../../../actors/sessions/worker-thread/inbound/offline-backlog.ts';
import type { SessionContext } from '../../../../actors/sessions/worker-thread/shared/session-context.ts';
import { HOUR_MS } from '../../../../runtime/durations.ts';
import { FakeClock } from '../../../testbed/fake-clock.ts';
import { fakeOf } from '../../../testbed/fake-of.ts';

test('a network that sends no more without an end is asked for some ten minutes, and again once more comes', async () => {
  const clock = new FakeClock();
  let asked = 0;
  const notes: string[] = [];
  const context = fakeOf<SessionContext>({
    later: (delayMs, act) => clock.after(delayMs, act),
    note: (note) => void notes.push(note.kind),
  });
  const backlog = new OfflineBacklog(context, {
    ask: () => {
      asked += 1;
    },
    waitUntilIdle: async () => undefined,
  });
  backlog.start(300);
  backlog.countStanza();
  await clock.advance(HOUR_MS);
  assert.equal(asked, 15);
  assert.deepEqual(notes, ['offline_announced', 'offline_unfinished']);
  await clock.advance(24 * HOUR_MS);
  assert.equal(asked, 15, 'no question is asked for ever');
  backlog.countStanza();
  await clock.advance(1_000);
  assert.equal(asked, 16);
  backlog.finish();
  await clock.advance(HOUR_MS);
  assert.equal(asked, 16);
  assert.equal(notes.at(-1), 'offline_drained');
});
