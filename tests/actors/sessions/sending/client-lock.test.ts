/** The lock on a session's client. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClientLock } from '../../../../actors/sessions/worker-thread/sending/client-lock.ts';
import type { PendingOrder } from '../../../../actors/sessions/worker-thread/sending/pending-order.ts';
import type { SessionContext } from '../../../../actors/sessions/worker-thread/shared/session-context.ts';
import { FakeClock } from '../../../testbed/fake-clock.ts';
import { fakeOf } from '../../../testbed/fake-of.ts';

test('work that throws at once gives the client back, and the next work runs', async () => {
  const lock = new ClientLock(fakeOf<SessionContext>({ clock: new FakeClock() }));
  const pendingOrder = {} as PendingOrder;
  const relay = (): never => {
    throw new Error('thrown at once');
  };
  await assert.rejects(lock.give(pendingOrder, relay), /thrown at once/);
  assert.equal(lock.order, undefined);
  let isRun = false;
  await lock.runAlone(async () => {
    isRun = true;
  });
  assert.ok(isRun);
});
