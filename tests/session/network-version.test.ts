/** A node learns the version that another one was told. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NetworkVersion } from '../../actors/sessions/main-thread/network-version.ts';
import type { Store } from '../../runtime/store.ts';
import { FakeClock } from '../runtime/fake-clock.ts';

const quiet = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

test('a node where refusals go on and on reads half a minute after the first what another node was told', async () => {
  const clock = new FakeClock();
  let told: string | null = null;
  const store = {
    read: async () => [told],
    // Another node asks, whatever there is to ask.
    append: async () => [null],
  } as unknown as Store;
  const version = new NetworkVersion({
    ...{ store, clock, log: quiet },
    ask: () => Promise.reject(new Error('another node asks')),
    onRead: () => undefined,
  });
  await clock.advance(1_000);
  told = '2.3000.77';
  for (let second = 0; second < 35; second += 5) {
    version.refused();
    await clock.advance(5_000);
  }
  assert.deepEqual(version.version, [2, 3000, 77]);
  version.stop();
});
