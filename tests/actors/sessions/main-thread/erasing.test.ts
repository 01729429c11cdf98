/** A session that is asked for while the former one is erased. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { until } from '../../../testbed/waiting.ts';
import { newShop } from '../conformance-network.ts';
import { pairedShop } from '../paired-shop.ts';

/** Erases a paired shop, and opens a session in generation 3 meanwhile. The commit waits for `release`. */
async function openedWhileErased(context: TestContext) {
  const pairing = await pairedShop(context);
  const { host, log, shop, store } = pairing;
  const { caught, release } = store.holdCommits((writes) => writes.some(([command]) => command === 'UNLINK'));
  const erased = host.erase(shop);
  host.open(shop, { generation: 3 });
  await caught;
  // The worker opens this session after all that it was asked for before.
  const other = newShop();
  host.open(other, { generation: 1 });
  await log.next(other, 'session.qr');
  const types = (): string[] =>
    log.events
      .filter(
        ({ shopId, event }) => shopId === shop.shopId && 'generation' in event && event.generation === 3,
      )
      .map(({ event }) => event.type);
  return { ...pairing, erased, release, types };
}

test('a session that is asked for while the former one is erased opens after that, and shows a code', async (context) => {
  const { erased, release, types } = await openedWhileErased(context);
  release();
  await erased;
  await until('the session reports something', async () => types().length > 0);
  assert.equal(types()[0], 'session.qr');
});

test('a session that waits for an erasure opens also if its worker is lost meanwhile', async (context) => {
  const { network, host, shop, erased, release, types } = await openedWhileErased(context);
  await network.loseWorker(shop);
  await until('a worker is ready', async () => host.isAvailable());
  release();
  await erased;
  await until('the session reports something', async () => types().length > 0);
  assert.equal(types()[0], 'session.qr');
});

test('a session that is closed while it waits for an erasure does not open', async (context) => {
  const { host, log, shop, erased, release, types } = await openedWhileErased(context);
  host.close(shop);
  release();
  await erased;
  assert.equal(host.describe(shop), undefined);
  const other = newShop();
  host.open(other, { generation: 1 });
  await log.next(other, 'session.qr');
  assert.deepEqual(types(), []);
});

test('a session opens although the erasure before it failed', async (context) => {
  const { network, host, log, shop, store } = await pairedShop(context);
  store.beforeCommit = (writes) => {
    if (writes.some(([command]) => command === 'UNLINK')) throw new Error('refused');
  };
  const erased = host.erase(shop);
  host.open(shop, { generation: 3 });
  await assert.rejects(erased, { message: 'refused' });
  await log.next(shop, 'session.closed', ({ generation }) => generation === 3);
  assert.equal((await network.control.sessions()).items.length, 0, 'the device was unlinked');
});
