import assert from 'node:assert/strict';
import { test } from 'node:test';
import { messageOperations } from '../../../../actors/shops/operations/message-operations.ts';
import { receiptsWrite } from '../../../../actors/shops/records/message-days.ts';
import { shopAddress } from '../../../../actors/shops/records/shop-keys.ts';
import type { Actors } from '../../../../runtime/actors.ts';
import type { Clock } from '../../../../runtime/clock.ts';
import { fakeOf } from '../../../testbed/fake-of.ts';
import { ShopHarness } from '../shop-harness.ts';
import { storeOf } from '../store-of.ts';

test('the name of a field beside a message is no id: its state and its receipts are not found', async () => {
  const shop = await ShopHarness.connected();
  const { tenantId, shopId } = shop.state.shop;
  const { shard } = shopAddress(shop.state.shop);
  const id = shop.send();
  shop.toWire(id);
  shop.outcome(id, { kind: 'acknowledged' });
  shop.redis.run(
    receiptsWrite(shard, id, { deliveredAtMs: shop.nowMs, readAtMs: null, delivered: 1, read: 0 }),
  );
  const { message, cancel } = messageOperations({
    actors: fakeOf<Actors>({
      state: () => ({ tenantId, shard, shops: new Map([[shopId, {}]]) }) as never,
      peek: () => shop.state as never,
    }),
    store: storeOf(shop.redis),
    clock: fakeOf<Clock>({ wallMs: () => shop.nowMs }),
    poolClient: { takeBackCancelled: () => Promise.reject(new Error('nothing is at the pool')) },
    times: { sendGap: { minMs: 6_000, maxMs: 20_000 } },
  });
  const answer = async (reply: ReturnType<typeof message>) => {
    const found = await reply;
    return found.ok ? found.value.status : found.failure.code;
  };
  assert.equal(await answer(message(tenantId, id)), 'sent');
  for (const neighbour of [`${id}:state`, `${id}:receipts`]) {
    assert.equal(await answer(message(tenantId, neighbour)), 'MESSAGE_NOT_FOUND', neighbour);
    const cancelled = await cancel(tenantId, neighbour);
    assert.equal(cancelled.ok || cancelled.failure.code, 'MESSAGE_NOT_FOUND', neighbour);
  }
});
