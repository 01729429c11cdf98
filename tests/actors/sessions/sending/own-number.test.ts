/** A shop writes to its own number, for example when its owner tries the service. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SHOP_PHONE, textOrder } from '../conformance-network.ts';
import { pairedShop } from '../paired-shop.ts';

test("a message to the shop's own number goes to the phone that it is linked to", async (context) => {
  const { outcomeOf } = await pairedShop(context);
  assert.deepEqual(await outcomeOf(textOrder('a note', { to: SHOP_PHONE })), { kind: 'acknowledged' });
});
