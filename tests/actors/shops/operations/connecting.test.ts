/** How long POST connect and a request for a pairing code wait. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FailureCode, Outcome } from '../../../../actors/failure.ts';
import { ChannelWaiters } from '../../../../actors/shops/effects/channel-waiters.ts';
import {
  type ConnectionOptions,
  connectionOperations,
} from '../../../../actors/shops/operations/connecting.ts';
import type { ShopCommand } from '../../../../actors/shops/protocol/shop-commands.ts';
import type { ChannelView } from '../../../../actors/shops/shop-operations.ts';
import { RuntimeFailure } from '../../../../runtime/runtime-failure.ts';
import { FakeClock } from '../../../testbed/fake-clock.ts';
import { ShopHarness } from '../shop-harness.ts';

/** A shop whose session gives no code unless a test does, and the operations on its connection. */
async function slowShop(qrImage = async () => 'image') {
  const shop = await ShopHarness.start();
  const clock = new FakeClock();
  const waiters = new ChannelWaiters(clock);
  const actors: ConnectionOptions['actors'] = {
    ask: async <Reply>(_address: unknown, command: unknown) => shop.command(command as ShopCommand) as Reply,
    state: <State>() => shop.state as State,
  };
  const operations = connectionOperations({
    actors,
    clock,
    waiters,
    qrImage,
    pairing: { take: () => undefined },
  });
  return { shop, clock, waiters, operations, reference: shop.state.shop };
}

/** Lets whole seconds pass until the call is answered. Returns their number and the code that it shows. */
async function answeredAfter(
  clock: FakeClock,
  call: Promise<Outcome<ChannelView, FailureCode>>,
): Promise<readonly [seconds: number, qr: string | undefined]> {
  let answer: Outcome<ChannelView, FailureCode> | undefined;
  void call.then((known) => {
    answer = known;
  });
  let seconds = 0;
  for (; answer === undefined && seconds < 60; seconds += 1) await clock.advance(1_000);
  return [seconds, answer?.ok ? answer.value.qr : undefined];
}

test('a call that starts a connection waits ten seconds for its code', async () => {
  const { clock, operations, reference } = await slowShop();
  assert.deepEqual(await answeredAfter(clock, operations.connect(reference)), [10, undefined]);
  const asked = operations.requestPairingCode(reference, '+33600000001');
  assert.deepEqual(await answeredAfter(clock, asked), [10, undefined]);
});

test('changes without a code do not make the wait longer, and a code ends it', async () => {
  const { shop, clock, waiters, operations, reference } = await slowShop();
  for (const atMs of [3_000, 6_000, 9_000]) clock.after(atMs, () => waiters.notify(reference.shopId));
  assert.deepEqual(await answeredAfter(clock, operations.connect(reference)), [10, undefined]);
  const call = operations.connect(reference);
  clock.after(1_500, () => {
    shop.session({ type: 'session.qr', qr: 'one', expiresAtMs: 1 });
    waiters.notify(reference.shopId);
  });
  assert.deepEqual(await answeredAfter(clock, call), [2, 'one']);
});

test('a code that cannot be drawn: only a call that started nothing says that it did nothing', async () => {
  const busy = () => Promise.reject(new RuntimeFailure('NODE_BUSY', 'the QR code cannot be drawn now', 2));
  const { shop, operations, reference } = await slowShop(busy);
  shop.command({ type: 'connect' });
  shop.session({ type: 'session.qr', qr: 'one', expiresAtMs: 1 });
  await assert.rejects(operations.connect(reference), { code: 'OUTCOME_UNKNOWN' });
  for (const read of [operations.channel, operations.pollConnection])
    await assert.rejects(read(reference), { code: 'NODE_BUSY' });
});
