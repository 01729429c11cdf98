/** A shop writes to its own number, as an owner does who tries it out. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newShop, pair, SHOP_PHONE, textOrder } from './session-conformance.ts';
import { startSimulated } from './simulated-network.ts';

test("a message to the shop's own number goes to the phone that it is linked to", async () => {
  const network = await startSimulated();
  const shop = newShop();
  const { host, log } = network;
  try {
    await pair(network, shop);
    host.prepare(shop, textOrder('a note', { to: SHOP_PHONE }));
    assert.deepEqual((await log.next(shop, 'session.send_outcome')).outcome, { kind: 'acknowledged' });
  } finally {
    await network.stop();
  }
});
