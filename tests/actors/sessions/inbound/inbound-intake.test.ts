/** A message that people write waits for its commit: without one the network delivers it again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_SESSION_TIMING } from '../../../../actors/sessions/session-timing.ts';
import {
  InboundIntake,
  type InboundNotice,
} from '../../../../actors/sessions/worker-thread/inbound/inbound-intake.ts';
import { ExpiringCache } from '../../../../actors/sessions/worker-thread/shared/expiring-cache.ts';
import { FakeClock } from '../../../runtime/fake-clock.ts';

const PERSON = '33622220001@s.whatsapp.net';

function intake() {
  const clock = new FakeClock();
  const told: InboundNotice[] = [];
  const failures: string[] = [];
  const logged: string[] = [];
  const numbers = new ExpiringCache({ lifeMs: 1, maxEntries: 9, nowMs: () => 0 });
  const environment = { clock, timing: DEFAULT_SESSION_TIMING, numbers };
  const madeIntake = new InboundIntake({
    environment,
    generation: 2,
    inbound: 'none',
    orderedAs: async (wireId) => wireId,
    socket: () => undefined,
    chatTimers: { keep: async () => undefined },
    report: (notice) => void told.push(notice),
    onFailed: (detail) => void failures.push(detail),
    log: (_, message) => void logged.push(message),
  });
  return { clock, told, failures, logged, intake: madeIntake };
}

const envelope = {
  wireId: 'W1',
  sender: PERSON,
  senderByNumber: PERSON,
  atMs: 1_000,
  lid: undefined,
  name: undefined,
};

test('a message that the network delivers again ends the session when its commit takes longer than 10 s', async () => {
  const { clock, failures, intake: madeIntake } = intake();
  const received = assert.rejects(
    madeIntake.commitMessage(envelope, { conversation: 'STOP' }),
    /not committed in time/,
  );
  await clock.advance(9_999);
  assert.deepEqual(failures, []);
  await clock.advance(1);
  await received;
  assert.equal(failures.length, 1);
});
