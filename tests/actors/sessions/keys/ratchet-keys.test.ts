import assert from 'node:assert/strict';
import { AsyncResource } from 'node:async_hooks';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SignalDataSet, SignalKeyStore } from '@whiskeysockets/baileys';
import { RatchetKeys } from '../../../../actors/sessions/worker-thread/keys/ratchet-keys.ts';
import { deferred } from '../../../testbed/deferred.ts';

/** Returns a store that records each batch. */
function recordingStore(): SignalKeyStore & { readonly batches: SignalDataSet[] } {
  const values = new Map<string, unknown>();
  const batches: SignalDataSet[] = [];
  return {
    batches,
    async get(type, ids) {
      const found = ids.flatMap((id) =>
        values.has(`${type}/${id}`) ? [[id, values.get(`${type}/${id}`)]] : [],
      );
      return Object.fromEntries(found);
    },
    async set(data) {
      batches.push(data);
      for (const [type, entries] of Object.entries(data)) {
        for (const [id, value] of Object.entries(entries ?? {})) values.set(`${type}/${id}`, value);
      }
    },
  };
}

/** Works for `ms` milliseconds, as a key agreement does. */
function busyFor(ms: number): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
}

const bytes = (value: number): Uint8Array => Uint8Array.of(value);

/** Returns keys over a store. It also gets the steps of sealed messages and data that may wait. */
const keysOver = (store: SignalKeyStore): RatchetKeys =>
  new RatchetKeys(store, {
    storeSealed: async (data) => store.set(data),
    storeLater: (data) => void store.set(data),
  });

test('a transaction sees its own changes and writes them in one batch', async () => {
  const store = recordingStore();
  const keys = keysOver(store);
  await keys.transaction(async () => {
    await keys.set({ session: { a: bytes(1) } });
    await keys.set({ 'identity-key': { a: bytes(2) }, session: { b: bytes(3) } });
    assert.deepEqual(await keys.get('session', ['a', 'b', 'c']), { a: bytes(1), b: bytes(3) });
    assert.equal(store.batches.length, 0);
  }, 'a');
  assert.deepEqual(store.batches, [
    { session: { a: bytes(1), b: bytes(3) }, 'identity-key': { a: bytes(2) } },
  ]);
});

test('a transaction that throws writes nothing, and the next one runs', async () => {
  const store = recordingStore();
  const keys = keysOver(store);
  const failed = keys.transaction(async () => {
    await keys.set({ session: { a: bytes(1) } });
    throw new Error('not committed');
  }, 'a');
  await assert.rejects(failed, /not committed/);
  assert.deepEqual(store.batches, []);
  await keys.transaction(() => keys.set({ session: { a: bytes(2) } }), 'a');
  assert.deepEqual(store.batches, [{ session: { a: bytes(2) } }]);
});

test('transactions run one after the other, and one within another joins it', async () => {
  const store = recordingStore();
  const keys = keysOver(store);
  const steps: string[] = [];
  const step = (name: string): Promise<void> =>
    keys.transaction(async () => {
      steps.push(`${name} begins`);
      await keys.transaction(() => keys.set({ session: { [name]: bytes(1) } }), 'inner');
      await nextTurn();
      steps.push(`${name} ends`);
    }, name);
  await Promise.all([step('one'), step('two')]);
  assert.deepEqual(steps, ['one begins', 'one ends', 'two begins', 'two ends']);
  assert.equal(store.batches.length, 2);
});

test('a change made in another asynchronous context, as libsignal’s queue does, belongs to the transaction all the same', async () => {
  const store = recordingStore();
  const keys = keysOver(store);
  const elsewhere = new AsyncResource('another shop');
  await assert.rejects(
    keys.transaction(async () => {
      await elsewhere.runInAsyncScope(() => keys.set({ session: { a: bytes(1) } }));
      throw new Error('undone');
    }, 'a'),
  );
  assert.deepEqual(store.batches, []);
});

test('a mapping is written at once and waits for no transaction', async () => {
  const store = recordingStore();
  const keys = keysOver(store);
  const outside = new AsyncResource('a lookup somebody else began');
  await keys.transaction(async () => {
    await outside.runInAsyncScope(() =>
      keys.transaction(() => keys.set({ 'lid-mapping': { '33': '44' } }), 'lid-mapping'),
    );
    assert.deepEqual(store.batches, [{ 'lid-mapping': { '33': '44' } }]);
  }, 'a');
});

test('keys sealed together are stored in one write, and returned to no caller before', async () => {
  const store = recordingStore();
  const keys = keysOver(store);
  const write = store.set.bind(store);
  const { promise: stored, resolve: release } = deferred();
  store.set = async (data) => {
    await stored;
    await write(data);
  };
  const sealed: string[] = [];
  const seal = (device: string): Promise<void> =>
    keys
      .seal(async () => {
        const { a } = await keys.get('session', ['a']);
        await keys.transaction(async () => {
          await keys.set({ session: { [device]: bytes(1), a: bytes(((a as Uint8Array)?.[0] ?? 0) + 1) } });
        }, device);
      })
      .then(() => void sealed.push(device));
  const both = Promise.all([seal('one'), seal('two')]);
  const after = keys.transaction(async () => void sealed.push('after'), 'x');
  await nextTurn();
  assert.deepEqual(sealed, []);
  release();
  await Promise.all([both, after]);
  assert.deepEqual(sealed, ['one', 'two', 'after']);
  assert.deepEqual(store.batches, [{ session: { one: bytes(1), two: bytes(1), a: bytes(2) } }]);
});

test('sealing for many devices lets other work run in between, and keeps its changes', async () => {
  const store = recordingStore();
  const keys = keysOver(store);
  const steps: string[] = [];
  const seal = (device: string): Promise<void> =>
    keys.seal(async () => {
      steps.push(device);
      if (device === 'a') setImmediate(() => void other());
      busyFor(1);
      await keys.set({ session: { [device]: bytes(1) } });
    });
  const other = async (): Promise<void> => {
    steps.push('another session');
    await keys.set({ session: { other: bytes(2) } });
  };
  await Promise.all(['a', 'b', 'c'].map(seal));
  assert.deepEqual(steps, ['a', 'another session', 'b', 'c']);
  assert.deepEqual(store.batches, [{ session: { a: bytes(1), other: bytes(2), b: bytes(1), c: bytes(1) } }]);
});

test('sealing that fails takes back its own step alone; a write that fails fails them all', async () => {
  const store = recordingStore();
  const keys = keysOver(store);
  const step = (id: string): Promise<void> => keys.set({ session: { [id]: bytes(1) } });
  const failing = keys.seal(async () => {
    await step('bad');
    throw new Error('no session');
  });
  const good = keys.seal(() => step('good'));
  await assert.rejects(failing, /no session/);
  await good;
  assert.deepEqual(store.batches, [{ session: { good: bytes(1) } }]);
  store.set = () => Promise.reject(new Error('the store is away'));
  const lost = [keys.seal(() => step('one')), keys.seal(() => step('two'))];
  for (const each of lost) await assert.rejects(each, /the store is away/);
  assert.deepEqual(await keys.get('session', ['one', 'good']), { good: bytes(1) });
});

test('a transaction stored later is over before it is written, and its write comes before the next', async () => {
  const store = recordingStore();
  const keys = keysOver(store);
  const askedSets: SignalDataSet[] = [];
  store.set = (data) => {
    askedSets.push(data);
    return new Promise(() => undefined);
  };
  await keys.transactionStoredLater(() =>
    keys.transaction(() => keys.set({ session: { a: bytes(1) } }), 'a'),
  );
  void keys.seal(() => keys.set({ session: { a: bytes(2) } }));
  await nextTurn();
  assert.deepEqual(askedSets, [{ session: { a: bytes(1) } }, { session: { a: bytes(2) } }]);
});
