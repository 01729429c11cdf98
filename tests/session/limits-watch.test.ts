/** The times at which a session asks for the limits of its number, on a fake clock. */
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import type { WASocket } from '@whiskeysockets/baileys';
import { LimitsWatch } from '../../actors/sessions/worker-thread/connection/limits-watch.ts';
import { FakeClock } from '../runtime/fake-clock.ts';

const HOUR_MS = 3_600_000;

/** A network that answers so about the quota of new chats, and does not restrict the number. */
function watched(quota: object) {
  const clock = new FakeClock();
  let asked = 0;
  const socket = {
    ws: new EventEmitter(),
    fetchAccountReachoutTimelock: async () => ({ isActive: false }),
    async fetchNewChatMessageCap() {
      asked += 1;
      return quota;
    },
  };
  const watch = new LimitsWatch({
    socket: socket as unknown as WASocket,
    everyMs: HOUR_MS,
    later: (delayMs, act) => clock.after(delayMs, act),
    report: () => undefined,
    log: () => undefined,
  });
  return { watch, clock, asked: () => asked };
}

test('the used part of a quota is asked for each hour, even without a warning', async () => {
  const { watch, clock, asked } = watched({ total_quota: 50, used_quota: 3, capping_status: 'NONE' });
  watch.ask();
  await clock.advance(HOUR_MS - 1);
  assert.equal(asked(), 1);
  await clock.advance(1);
  assert.equal(asked(), 2);
  await clock.advance(HOUR_MS);
  assert.equal(asked(), 3);
});

test('a number without limits is asked about once', async () => {
  const { watch, clock, asked } = watched({ total_quota: -1 });
  watch.ask();
  await clock.advance(5 * HOUR_MS);
  assert.equal(asked(), 1);
});
