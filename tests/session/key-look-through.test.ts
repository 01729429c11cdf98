/** The keys of an old account take a worker's thread for some tens of milliseconds, so accounts come one by one. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { until } from '../e2e/waiting.ts';
import { newShop, pair, SHOP_PHONE } from './session-conformance.ts';
import { startSimulated } from './simulated-network.ts';

const OTHER_PHONE = '+33611111112';

test('the stored keys of one shop of a worker are looked through at a time', async () => {
  const network = await startSimulated();
  const { store, log } = network;
  const released = new AbortController();
  let lookedThrough = 0;
  try {
    store.beforeRead = async (reads) => {
      if (!reads.some(([command]) => command === 'HKEYS')) return;
      lookedThrough += 1;
      if (!released.signal.aborted) await once(released.signal, 'abort');
    };
    await pair(network, newShop());
    const other = newShop();
    await pair(network, other, OTHER_PHONE);
    await until('the keys of one are looked through', async () => lookedThrough > 0);
    // What this takes comes after all that the other session asked for when it opened, and waits for its own look-through.
    await network.control.write(SHOP_PHONE, { to: OTHER_PHONE, text: 'Open today?', wait: false });
    await until(
      'it asks, or hears',
      async () => lookedThrough > 1 || log.all(other, 'session.inbound').length > 0,
    );
    assert.equal(lookedThrough, 1, 'the other one waits');
    released.abort();
    await until('the keys of both are looked through', async () => lookedThrough === 2);
  } finally {
    released.abort();
    await network.stop();
  }
});
