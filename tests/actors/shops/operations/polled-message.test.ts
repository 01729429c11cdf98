import assert from 'node:assert/strict';
import { test } from 'node:test';
import { messageOperations } from '../../../../actors/shops/operations/message-operations.ts';
import { encodeBody, type MessageBody } from '../../../../actors/shops/records/message-record.ts';
import { shopAddress } from '../../../../actors/shops/records/shop-keys.ts';
import type { Actors } from '../../../../runtime/actors.ts';
import type { Address } from '../../../../runtime/address.ts';
import type { Clock } from '../../../../runtime/clock.ts';
import type { Store } from '../../../../runtime/store.ts';
import { fakeOf } from '../../../testbed/fake-of.ts';
import { ShopHarness } from '../shop-harness.ts';

/** A connected shop with two waiting messages, and a function that polls the second. */
async function twoWaiting() {
  const harness = await ShopHarness.connected();
  const [first, second] = [harness.send('+33600000002'), harness.send('+33600000003')];
  const { tenantId, shopId } = harness.state.shop;
  const { shard, text } = shopAddress(harness.state.shop);
  const fields = [encodeBody(harness.bodies.get(second) as MessageBody), null, null];
  const operations = messageOperations({
    actors: fakeOf<Actors>({
      state: () => ({ tenantId, shard, shops: new Map([[shopId, {}]]) }) as never,
      peek: (address: Address) => (address.text === text ? harness.state : undefined) as never,
    }),
    store: fakeOf<Store>({ knownFields: () => fields }),
    clock: fakeOf<Clock>({ wallMs: () => harness.nowMs }),
    poolClient: { takeBackCancelled: () => Promise.reject(new Error('nothing is at the pool')) },
    times: { sendGap: { minMs: 6_000, maxMs: 20_000 } },
  });
  const poll = () => {
    const found = operations.message(tenantId, second);
    assert.ok(!(found instanceof Promise) && found.ok);
    return found.value;
  };
  return { harness, first, poll };
}

test('a polled message is the same object within a second, while its shop does not change', async () => {
  const { harness, poll } = await twoWaiting();
  harness.nowMs += 1;
  const shown = poll();
  assert.equal(shown.position, 2);
  harness.nowMs += 999;
  assert.equal(poll(), shown);
  harness.nowMs += 1;
  assert.equal(Date.parse(String(poll().estimatedSendAt)), Date.parse(String(shown.estimatedSendAt)) + 1_000);
});

test('a polled message has its new position at once, and stays one object while the queue is paused', async () => {
  const { harness, first, poll } = await twoWaiting();
  assert.equal(poll().position, 2);
  await harness.ask({ type: 'cancel', messageId: first });
  assert.equal(poll().position, 1);
  harness.command({ type: 'pause' });
  const paused = poll();
  assert.equal(paused.estimatedSendAt, null);
  harness.nowMs += 5_000;
  assert.equal(poll(), paused);
});
