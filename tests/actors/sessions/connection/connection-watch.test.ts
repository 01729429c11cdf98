import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import type { BinaryNode, WASocket } from '@whiskeysockets/baileys';
import { DEFAULT_SESSION_TIMING } from '../../../../actors/sessions/session-timing.ts';
import { ConnectionWatch } from '../../../../actors/sessions/worker-thread/connection/connection-watch.ts';
import type { SessionContext } from '../../../../actors/sessions/worker-thread/shared/session-context.ts';
import { FakeClock } from '../../../testbed/fake-clock.ts';
import { fakeOf } from '../../../testbed/fake-of.ts';

const { keepAliveMs, probeEveryMs, queryMs } = DEFAULT_SESSION_TIMING;

/** Returns a watch over a connection whose answers the test gives. */
function watched(
  answer: (clock: FakeClock) => Promise<unknown>,
  {
    connection = 'open',
    lateMs = () => 0,
  }: { connection?: 'open' | 'stuck' | 'cut'; lateMs?: () => number } = {},
) {
  const clock = new FakeClock();
  const asked: string[] = [];
  const ends: string[] = [];
  const ws = new EventEmitter();
  const socket = {
    ws,
    user: { id: '33611110001:1@s.whatsapp.net' },
    generateMessageTag: () => `tag-${asked.length}`,
    async sendNode({ attrs }: BinaryNode) {
      asked.push('ping');
      const heard = answer(clock);
      if (connection === 'stuck') return new Promise(() => undefined);
      if (connection === 'cut') return heard;
      void heard.then((node) => node !== undefined && ws.emit(`TAG:${attrs.id}`, node));
    },
    executeUSyncQuery() {
      asked.push('devices');
      return connection === 'stuck' ? new Promise(() => undefined) : answer(clock);
    },
  } as unknown as WASocket;
  const context = fakeOf<SessionContext>({
    clock,
    timing: DEFAULT_SESSION_TIMING,
    later: (delayMs, act) => clock.after(delayMs === queryMs ? delayMs + lateMs() : delayMs, act),
    end: (_, detail) => void ends.push(detail.replace('the socket is open and nobody answers ', '')),
  });
  const watch = new ConnectionWatch(context, socket);
  return { watch, clock, asked, ends, ws };
}

/** Answers like the client: `undefined` once the wait is over. */
const silence = (clock: FakeClock): Promise<undefined> =>
  new Promise((resolve) => void clock.after(queryMs, () => resolve(undefined)));

test('an answered ping is followed by the next, and nothing ends', async () => {
  const { watch, clock, asked, ends } = watched(() => Promise.resolve({}));
  watch.start();
  await clock.advance(3 * keepAliveMs);
  assert.deepEqual([asked, ends], [['ping', 'ping', 'ping'], []]);
});

test('a ping without an answer ends the session', async () => {
  const { watch, clock, ends } = watched(silence);
  watch.start();
  await clock.advance(keepAliveMs + queryMs - 1);
  assert.deepEqual(ends, []);
  await clock.advance(1);
  assert.deepEqual(ends, ['a ping']);
});

test('a connection that accepts no frame ends the session', async () => {
  const { watch, clock, ends } = watched(silence, { connection: 'stuck' });
  watch.start();
  await clock.advance(keepAliveMs + queryMs);
  assert.deepEqual(ends, ['a ping']);
});

test('no query leaves a listener registered', async () => {
  const { watch, clock, ws } = watched(() => Promise.resolve({}));
  const before = ws.eventNames();
  watch.start();
  await clock.advance(3 * keepAliveMs);
  assert.deepEqual(ws.eventNames(), before);
});

test('a frame that the connection refuses is reported as the end of the connection, by another', async () => {
  const { watch, clock, ends } = watched(() => Promise.reject(new Error('Connection Closed')), {
    connection: 'cut',
  });
  watch.start();
  await clock.advance(2 * keepAliveMs);
  assert.deepEqual(ends, []);
});

test('a wait that ended late, because the thread was blocked, proves nothing; the next one does', async () => {
  let stoodStillMs = 6_000;
  const { watch, clock, ends, asked } = watched(silence, {
    lateMs: () => {
      const lateMs = stoodStillMs;
      stoodStillMs = 0;
      return lateMs;
    },
  });
  watch.start();
  await clock.advance(keepAliveMs + queryMs + 6_000);
  assert.deepEqual([asked, ends], [['ping'], []]);
  await clock.advance(keepAliveMs + queryMs);
  assert.deepEqual([asked, ends], [['ping', 'ping'], ['a ping']]);
});

test('a query that is sent at once does not replace pings', async () => {
  const { watch, clock, asked, ends } = watched(silence);
  const probe = watch.probe();
  await clock.advance(queryMs);
  await probe;
  assert.deepEqual([asked, ends], [['devices'], ['a question']]);
});

test('a query that the connection does not accept ends the session', async () => {
  const { watch, clock, asked, ends } = watched(silence, { connection: 'stuck' });
  void watch.probe();
  await clock.advance(queryMs - 1);
  assert.deepEqual([asked, ends], [['devices'], []]);
  await clock.advance(1);
  assert.deepEqual(ends, ['a question']);
});

test('a socket that answers pings is asked again and again whether it still listens', async () => {
  const { watch, clock, asked, ends } = watched(() => Promise.resolve({}));
  watch.start();
  await clock.advance(2 * probeEveryMs);
  assert.deepEqual([asked.filter((name) => name === 'devices').length, ends], [2, []]);
});

test('the query about devices replaces a ping', async () => {
  const { watch, clock, asked } = watched(() => Promise.resolve({}));
  watch.start();
  await clock.advance(probeEveryMs + keepAliveMs);
  const pings = Array(probeEveryMs / keepAliveMs - 1).fill('ping');
  assert.deepEqual(asked, [...pings, 'devices', 'ping']);
});

test('no ping is late if the query about devices is due between two', async () => {
  const answerMs = 1_000;
  const { watch, clock, asked } = watched(
    (clock) => new Promise((resolve) => void clock.after(answerMs, () => resolve({}))),
  );
  watch.start();
  await clock.advance(probeEveryMs - 1);
  assert.deepEqual(asked, Array(9).fill('ping'));
  await clock.advance(1);
  assert.equal(asked.at(-1), 'devices');
});

test('a connection with traffic gets the query about devices only after the full quiet time', async () => {
  const { watch, clock, asked, ws } = watched(() => Promise.resolve({}));
  watch.start();
  for (let passedMs = 0; passedMs < 3 * probeEveryMs; passedMs += 60_000) {
    ws.emit('frame', { tag: 'receipt', attrs: {} });
    await clock.advance(60_000);
  }
  assert.equal(asked.includes('devices'), false);
  await clock.advance(probeEveryMs);
  assert.equal(asked.filter((question) => question === 'devices').length, 1);
});
