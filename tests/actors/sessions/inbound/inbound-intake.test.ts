/** An inbound message is acknowledged after its commit. Without a commit the network delivers it again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_SESSION_TIMING } from '../../../../actors/sessions/session-timing.ts';
import { InboundIntake } from '../../../../actors/sessions/worker-thread/inbound/inbound-intake.ts';
import { ExpiringCache } from '../../../../actors/sessions/worker-thread/shared/expiring-cache.ts';
import type { SessionContext } from '../../../../actors/sessions/worker-thread/shared/session-context.ts';
import type { SessionEnvironment } from '../../../../actors/sessions/worker-thread/shared/session-environment.ts';
import { FakeClock } from '../../../testbed/fake-clock.ts';
import { fakeOf } from '../../../testbed/fake-of.ts';

const PERSON = '33622220001@s.whatsapp.net';

function intake() {
  const clock = new FakeClock();
  const failures: string[] = [];
  const numbers = new ExpiringCache({ lifeMs: 1, maxEntries: 9, nowMs: () => 0 });
  const context = fakeOf<SessionContext>({
    environment: fakeOf<SessionEnvironment>({ numbers }),
    clock,
    timing: DEFAULT_SESSION_TIMING,
    opening: { generation: 2, inbound: 'none', clientVersion: undefined },
    emit: () => undefined,
    end: (_, detail) => void failures.push(detail),
  });
  const madeIntake = new InboundIntake(context, {
    orderedAs: async (wireId) => wireId,
    socket: () => undefined,
    chatTimers: { keep: async () => undefined },
  });
  return { clock, failures, intake: madeIntake };
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
