/** Waits of POST connect are bounded by shop, tenant and node, and a wait that is over leaves its place. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ChannelWaiters } from '../../../../actors/shops/effects/channel-waiters.ts';
import { CallerConnection } from '../../../../http/contract/caller-connection.ts';
import { FakeClock } from '../../../testbed/fake-clock.ts';

/** How many of `count` calls may wait. */
function admitted(waiters: ChannelWaiters, tenantId: string, shopIds: readonly string[]): number {
  return shopIds.filter((shopId) => waiters.next({ tenantId, shopId }, 10_000) !== undefined).length;
}

const shops = (tenant: string, count: number, each: number): string[] =>
  Array.from({ length: count * each }, (_, index) => `${tenant}-${index % count}`);

test('four calls wait for a shop and sixty-four for the shops of a tenant; calls of others can still wait', () => {
  const waiters = new ChannelWaiters(new FakeClock());
  assert.equal(admitted(waiters, 'a', shops('a', 1, 10)), 4);
  assert.equal(admitted(waiters, 'a', shops('a', 100, 4)), 60);
  assert.equal(admitted(waiters, 'b', shops('b', 1, 1)), 1);
});

test('a node lets 1,024 calls wait, of any tenants', () => {
  const waiters = new ChannelWaiters(new FakeClock());
  const tenants = Array.from({ length: 20 }, (_, index) => `t${index}`);
  const all = tenants.map((tenant) => admitted(waiters, tenant, shops(tenant, 16, 4)));
  assert.equal(
    all.reduce((sum, count) => sum + count, 0),
    1_024,
  );
});

test('a wait frees its slot when a change or its timeout ends it', async () => {
  const clock = new FakeClock();
  const waiters = new ChannelWaiters(clock);
  assert.equal(admitted(waiters, 'a', shops('a', 16, 4)), 64);
  waiters.notify('a-0');
  assert.equal(admitted(waiters, 'a', shops('a', 100, 4)), 4);
  await clock.advance(10_000);
  assert.equal(admitted(waiters, 'a', shops('a', 16, 4)), 64);
});

test('a wait frees its slot at once when its caller disconnects', async () => {
  const waiters = new ChannelWaiters(new FakeClock());
  const callers = Array.from({ length: 4 }, () => new CallerConnection());
  const shop = { tenantId: 'a', shopId: 'a-0' };
  const waits = callers.map((caller) => waiters.next(shop, 10_000, caller));
  assert.equal(waiters.next(shop, 10_000), undefined);
  for (const caller of callers) caller.leave();
  await Promise.all(waits);
  assert.equal(admitted(waiters, 'a', shops('a', 1, 10)), 4);
});
