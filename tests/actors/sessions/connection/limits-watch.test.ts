/** The times at which a session asks for the limits of its number, on a fake clock. */
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import type { WASocket } from '@whiskeysockets/baileys';
import { DEFAULT_SESSION_TIMING } from '../../../../actors/sessions/session-timing.ts';
import { LimitsWatch } from '../../../../actors/sessions/worker-thread/connection/limits-watch.ts';
import type { SessionContext } from '../../../../actors/sessions/worker-thread/shared/session-context.ts';
import { HOUR_MS } from '../../../../runtime/durations.ts';
import { deferred } from '../../../testbed/deferred.ts';
import { FakeClock } from '../../../testbed/fake-clock.ts';
import { fakeOf } from '../../../testbed/fake-of.ts';

/** The network's answers to the two queries. A test changes them. */
interface Answers {
  restriction: { readonly isActive: boolean; readonly enforcementType?: string };
  quota: object;
}

const UNLIMITED = { total_quota: -1 };

/** A network with these answers. A query waits while `held` is a promise. */
function watched(change: Partial<Answers> = {}) {
  const clock = new FakeClock();
  const network: Answers & { held?: Promise<void> } = {
    restriction: { isActive: false },
    quota: UNLIMITED,
    ...change,
  };
  let asked = 0;
  const kinds: (string | undefined)[] = [];
  const ws = new EventEmitter();
  const socket = {
    ws,
    fetchAccountReachoutTimelock: async () => network.restriction,
    async fetchNewChatMessageCap() {
      asked += 1;
      const { quota } = network;
      await network.held;
      return quota;
    },
  };
  const context = fakeOf<SessionContext>({
    timing: DEFAULT_SESSION_TIMING,
    later: (delayMs, act) => clock.after(delayMs, act),
    emit: (event) => void (event.type === 'session.limits' && kinds.push(event.restriction?.kind)),
    log: () => undefined,
    logFailure: () => () => undefined,
  });
  const watch = new LimitsWatch(context, socket as unknown as WASocket);
  const refuse = (error: string): void => void ws.emit('CB:ack,class:message', { attrs: { error } });
  return { watch, clock, network, ws, refuse, kinds, asked: () => asked };
}

test('the used part of a quota is asked for each hour, even without a warning', async () => {
  const quota = { total_quota: 50, used_quota: 3, capping_status: 'NONE' };
  const { watch, clock, asked } = watched({ quota });
  watch.ask();
  await clock.advance(HOUR_MS - 1);
  assert.equal(asked(), 1);
  await clock.advance(1);
  assert.equal(asked(), 2);
  await clock.advance(HOUR_MS);
  assert.equal(asked(), 3);
});

test('a restricted number is asked about each hour, until the network reports that it is not restricted', async () => {
  const { watch, clock, network, asked } = watched({ restriction: { isActive: true } });
  watch.ask();
  await clock.advance(HOUR_MS - 1);
  assert.equal(asked(), 1);
  await clock.advance(1);
  assert.equal(asked(), 2);
  network.restriction = { isActive: false };
  await clock.advance(HOUR_MS);
  assert.equal(asked(), 3);
  await clock.advance(5 * HOUR_MS);
  assert.equal(asked(), 3);
});

test('a number without limits is asked about once', async () => {
  const { watch, clock, asked } = watched();
  watch.ask();
  await clock.advance(5 * HOUR_MS);
  assert.equal(asked(), 1);
});

test('after a refusal the network is asked at once, and not again if it reports no limits', async () => {
  for (const code of ['463', '475']) {
    const { clock, refuse, asked } = watched();
    refuse(code);
    await clock.advance(5 * HOUR_MS);
    assert.equal(asked(), 1);
  }
});

test('after a refusal the network is asked each hour until both queries are answered', async () => {
  const { clock, network, refuse, asked } = watched();
  network.held = Promise.reject(new Error('the network does not answer'));
  network.held.catch(() => undefined);
  refuse('463');
  await clock.advance(HOUR_MS);
  assert.equal(asked(), 2);
  delete network.held;
  await clock.advance(5 * HOUR_MS);
  assert.equal(asked(), 3);
});

test('an answer to a query from before the refusal does not end the queries about it', async () => {
  const { watch, clock, network, refuse, asked } = watched();
  const answer = deferred();
  network.held = answer.promise;
  watch.ask();
  refuse('463');
  network.held = Promise.reject(new Error('the network does not answer'));
  network.held.catch(() => undefined);
  answer.resolve();
  await clock.advance(HOUR_MS);
  assert.equal(asked(), 3);
});

test('a long name of a restriction is cut, in an answer and in a notification', async () => {
  const longName = 'X'.repeat(1_000);
  const { watch, clock, ws, kinds } = watched({ restriction: { isActive: true, enforcementType: longName } });
  watch.ask();
  await clock.advance(0);
  const data = { xwa2_notify_account_reachout_timelock: { is_active: true, enforcement_type: longName } };
  const attrs = { op_name: 'NotificationUserReachoutTimelockUpdate' };
  const update = { tag: 'update', attrs, content: Buffer.from(JSON.stringify({ data })) };
  ws.emit('CB:notification,type:mex', { tag: 'notification', attrs: {}, content: [update] });
  assert.deepEqual(kinds, ['X'.repeat(100), 'X'.repeat(100)]);
});
