import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WASocket } from '@whiskeysockets/baileys';
import { DEFAULT_SESSION_TIMING } from '../../actors/session/session-timing.ts';
import { LineWatch } from '../../actors/session/worker-thread/line-watch.ts';
import { FakeClock } from '../runtime/fake-clock.ts';

const { keepAliveMs, probeEveryMs, queryMs } = DEFAULT_SESSION_TIMING;

/** A watch over a line whose answers are in the test's hand. */
function watched(answer: (clock: FakeClock) => Promise<unknown>) {
  const clock = new FakeClock();
  const asked: string[] = [];
  const ends: string[] = [];
  const query = (name: string) => () => {
    asked.push(name);
    return answer(clock);
  };
  const socket = {
    user: { id: '33611110001:1@s.whatsapp.net' },
    generateMessageTag: () => 'tag',
    query: query('ping'),
    executeUSyncQuery: query('devices'),
  } as unknown as WASocket;
  const watch = new LineWatch({
    socket,
    clock,
    timing: DEFAULT_SESSION_TIMING,
    later: (delayMs, act) => void clock.after(delayMs, act),
    unanswered: (question) => void ends.push(question),
  });
  return { watch, clock, asked, ends };
}

/** As the client does: `undefined` once the wait is over. */
const silence =
  (lateMs = 0) =>
  (clock: FakeClock): Promise<undefined> =>
    new Promise((resolve) => void clock.after(queryMs + lateMs, () => resolve(undefined)));

test('an answered ping is followed by the next, and nothing ends', async () => {
  const { watch, clock, asked, ends } = watched(() => Promise.resolve({}));
  watch.start();
  await clock.advance(3 * keepAliveMs);
  assert.deepEqual([asked, ends], [['ping', 'ping', 'ping'], []]);
});

test('a ping without an answer ends the session', async () => {
  const { watch, clock, ends } = watched(silence());
  watch.start();
  await clock.advance(keepAliveMs + queryMs - 1);
  assert.deepEqual(ends, []);
  await clock.advance(1);
  assert.deepEqual(ends, ['a ping']);
});

test('a refusal is an answer', async () => {
  const { watch, clock, ends } = watched(() => Promise.reject(new Error('rate-overlimit')));
  watch.start();
  await clock.advance(2 * keepAliveMs);
  assert.deepEqual(ends, []);
});

test('a wait that ended late, because the thread stood still, says nothing; the next one does', async () => {
  let first = true;
  const { watch, clock, ends, asked } = watched((at) => {
    const lateMs = first ? 6_000 : 0;
    first = false;
    return silence(lateMs)(at);
  });
  watch.start();
  await clock.advance(keepAliveMs + queryMs + 6_000);
  assert.deepEqual([asked, ends], [['ping'], []]);
  await clock.advance(keepAliveMs + queryMs);
  assert.deepEqual([asked, ends], [['ping', 'ping'], ['a ping']]);
});

test('a question asked at once goes beside the pings', async () => {
  const { watch, clock, asked, ends } = watched(silence());
  const probe = watch.probe();
  await clock.advance(queryMs);
  await probe;
  assert.deepEqual([asked, ends], [['devices'], ['a question']]);
});

test('a socket that answers pings is asked again and again whether it still listens', async () => {
  const { watch, clock, asked, ends } = watched(() => Promise.resolve({}));
  watch.start();
  await clock.advance(2 * probeEveryMs);
  assert.deepEqual([asked.filter((name) => name === 'devices').length, ends], [2, []]);
});
