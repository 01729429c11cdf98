/** A node uses the version of the network that another node has read. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NetworkVersion } from '../../../../actors/sessions/main-thread/network-version.ts';
import type { Store } from '../../../../runtime/store.ts';
import { FakeClock } from '../../../testbed/fake-clock.ts';
import { fakeOf } from '../../../testbed/fake-of.ts';
import { readsBy } from '../../../testbed/reads-by.ts';

const quiet = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

test('a node with lasting refusals reads the version that another node got half a minute after the first refusal', async () => {
  const clock = new FakeClock();
  let told: string | null = null;
  const store = fakeOf<Store>({
    read: readsBy(() => told),
    // Another node has the turn to ask.
    append: async () => [null],
  });
  const version = new NetworkVersion({
    store,
    clock,
    log: quiet,
    ask: () => Promise.reject(new Error('another node asks')),
    onRead: () => undefined,
  });
  await clock.advance(1_000);
  told = '2.3000.77';
  for (let second = 0; second < 35; second += 5) {
    version.onRefused();
    await clock.advance(5_000);
  }
  assert.deepEqual(version.version, [2, 3000, 77]);
  version.stop();
});

test('a node uses the operators’ version within a minute, instead of the page’s, and then the page’s again', async () => {
  const clock = new FakeClock();
  let set: string | null = null;
  const store = fakeOf<Store>({
    read: readsBy(([, key]) => (key === 'client-version:set' ? set : '2.3000.77')),
    append: async () => [null],
  });
  const versionOf = async (ask: (() => Promise<number>) | undefined): Promise<NetworkVersion> => {
    const version = new NetworkVersion({ store, clock, log: quiet, ask, onRead: () => undefined });
    await clock.advance(0);
    return version;
  };
  const asking = await versionOf(() => Promise.reject(new Error('another node asks')));
  const fixed = await versionOf(undefined);
  const both = (): unknown[] => [asking.version, fixed.version];
  assert.deepEqual(both(), [[2, 3000, 77], undefined]);
  set = '2.3000.88';
  await clock.advance(60_000);
  assert.deepEqual(both(), [
    [2, 3000, 88],
    [2, 3000, 88],
  ]);
  set = null;
  await clock.advance(60_000);
  assert.deepEqual(both(), [[2, 3000, 77], undefined]);
  for (const version of [asking, fixed]) version.stop();
});
