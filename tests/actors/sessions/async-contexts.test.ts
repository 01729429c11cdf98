import assert from 'node:assert/strict';
import { AsyncLocalStorage, executionAsyncResource } from 'node:async_hooks';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { addTransactionCapability, type SignalDataSet } from '@whiskeysockets/baileys';
import { shareAsyncContexts } from '../../../actors/sessions/worker-thread/async-contexts.ts';
import { quietLogger } from '../../../actors/sessions/worker-thread/shared/silent-logger.ts';
import { deferred } from '../../testbed/deferred.ts';

// This changes the class for the whole process. So this file has a process of its own.
shareAsyncContexts();

test('each storage finds its own value across waits, nested and side by side', async () => {
  const [firstStorage, otherStorage] = [new AsyncLocalStorage<string>(), new AsyncLocalStorage<string>()];
  const seen: (string | undefined)[][] = [];
  const note = (): void => void seen.push([firstStorage.getStore(), otherStorage.getStore()]);
  await Promise.all([
    firstStorage.run('a', async () => {
      await nextTurn();
      await otherStorage.run('b', async () => {
        await nextTurn();
        note();
        await firstStorage.run('c', async () => {
          await nextTurn();
          note();
        });
        note();
      });
      note();
    }),
    firstStorage.run('z', async () => {
      await nextTurn();
      await nextTurn();
      await nextTurn();
      await nextTurn();
      note();
    }),
  ]);
  note();
  assert.deepEqual(
    new Set(seen.map(String)),
    new Set(
      ['a,b', 'c,b', 'a,', 'z,', ','].map((pair) => String(pair.split(',').map((part) => part || undefined))),
    ),
  );
  assert.equal(
    firstStorage.run('x', (more: string) => `${firstStorage.getStore()}${more}`, 'y'),
    'xy',
  );
  assert.throws(
    () =>
      firstStorage.run('x', () => {
        throw new Error('told to throw');
      }),
    /told to throw/,
  );
  assert.equal(firstStorage.getStore(), undefined);
});

test('a promise carries one value however many storages were used', async () => {
  const carried = async (): Promise<number> => {
    await Promise.resolve();
    return Object.getOwnPropertySymbols(executionAsyncResource()).length;
  };
  await new AsyncLocalStorage().run(0, carried);
  const before = await carried();
  for (let index = 0; index < 100; index += 1) await new AsyncLocalStorage().run(index, carried);
  assert.equal(await carried(), before);
});

test('a value ends with the promise of its work: later work of it is in no transaction of the client', async () => {
  const storedSets: SignalDataSet[] = [];
  const keys = addTransactionCapability(
    { get: async () => ({}), set: async (data) => void storedSets.push(data) },
    quietLogger,
    { maxCommitRetries: 1, delayBetweenTriesMs: 0 },
  );
  const { promise: isCommitted, resolve: committed } = deferred();
  const token = (senderTimestamp: number) => ({
    tctoken: { a: { token: Buffer.alloc(0), senderTimestamp } },
  });
  const afterwards = await keys.transaction(async () => {
    await keys.set(token(1));
    const left = isCommitted.then(() => keys.set(token(2)));
    return { left };
  }, 'a');
  assert.deepEqual(storedSets, [token(1)]);
  committed();
  await afterwards.left;
  assert.deepEqual(storedSets, [token(1), token(2)]);
});
