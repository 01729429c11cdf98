/**
 * Waits for events are bounded by tenant and node. An ended wait frees its slot, and calls notified together read once.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EventPage } from '../../../actors/events/event-operations.ts';
import { eventService } from '../../../actors/events/event-service.ts';
import type { Outcome } from '../../../actors/failure.ts';
import type { MessageView } from '../../../actors/shops/shop-operations.ts';
import {
  type EventWait,
  EventWaiters,
  MOST_EVENT_WAITS,
} from '../../../actors/tenants/stored-events/event-waiters.ts';
import type { StreamEntry } from '../../../actors/tenants/stored-events/tenant-event.ts';
import type { Read } from '../../../runtime/store.ts';
import { FakeClock } from '../../testbed/fake-clock.ts';
import { LineLog } from '../../testbed/line-log.ts';
import { confirmedReads } from './confirmed-reads.ts';

const TENANT = '66b1f0a2c3d4e5f607182901';
const START = '0'.repeat(24);

/** How many of `count` calls may wait. */
function admitted(waiters: EventWaiters, tenantId: string, count: number): number {
  return Array.from({ length: count }, () => waiters.enter(tenantId, 30_000)).filter(
    (wait) => wait !== undefined,
  ).length;
}

test('256 calls wait for the events of a tenant; calls of others can still wait', () => {
  const waiters = new EventWaiters(new FakeClock());
  assert.equal(admitted(waiters, 'a', 300), 256);
  assert.equal(admitted(waiters, 'b', 300), 256);
});

test('a node lets 20,000 calls wait, of any tenants, and one that leaves frees a slot', () => {
  const waiters = new EventWaiters(new FakeClock());
  const first = waiters.enter('first', 30_000);
  const all = Array.from({ length: 100 }, (_, index) => admitted(waiters, `t${index}`, 256));
  assert.equal(
    all.reduce((sum, count) => sum + count, 1),
    20_000,
  );
  assert.equal(waiters.count, 20_000);
  first?.leave();
  first?.leave();
  assert.equal(admitted(waiters, 'last', 2), 1);
});

test('a node that stops ends all waits at once, also those that begin later', async () => {
  const waiters = new EventWaiters(new FakeClock());
  const presentWait = waiters.enter('a', 30_000);
  const woke = presentWait && woken(presentWait);
  waiters.close();
  await woke;
  const future = waiters.enter('a', 30_000);
  await (future && woken(future));
  assert.deepEqual([presentWait?.takeShared(), future?.takeShared()], [undefined, undefined]);
});

test('a call that leaves stops waiting at once and gets no event', async () => {
  const waiters = new EventWaiters(new FakeClock());
  const wait = waiters.enter('a', 30_000);
  assert.ok(wait);
  wait.leave();
  await woken(wait);
  assert.deepEqual([wait.takeShared(), waiters.count], [undefined, 0]);
});

const woken = (wait: EventWait): Promise<void> =>
  new Promise((resolve) => wait.whenWoken(resolve, undefined));

/** A service over a stream in memory, which counts what is asked of it. */
function inMemory() {
  const clock = new FakeClock();
  const waiters = new EventWaiters(clock);
  const entries: StreamEntry[] = [];
  const asked = { reads: 0, messages: 0 };
  const answer = ([command, , from]: Read): unknown => {
    asked.reads += 1;
    if (command === 'EXISTS') return entries.length;
    if (command === 'XREVRANGE') return entries.slice(-1);
    return entries.filter(([id]) => from === '-' || `(${id}` > String(from));
  };
  const service = eventService({
    store: confirmedReads(answer),
    waiters,
    inbound: { eventOf: async () => undefined },
    log: new LineLog(),
    messages: {
      message: (_, id) => {
        asked.messages += 1;
        return { ok: true, value: { id } as MessageView };
      },
    },
  });
  return {
    clock,
    waiters,
    asked,
    /** Lists like a call: it reads again after each notification. */
    async list(waitMs: number, filter: { readonly shopId?: string } = {}): Promise<Outcome<EventPage>> {
      const query = { cursor: START, limit: 10, types: undefined, shopId: undefined, waitMs, ...filter };
      let listedOutcome = await service.list(TENANT, query);
      while (listedOutcome.ok && listedOutcome.value.wait !== undefined) {
        const { wait } = listedOutcome.value;
        await woken(wait);
        listedOutcome = await service.list(TENANT, { ...query, wait });
      }
      return listedOutcome;
    },
    /** Stores an event of the shop and notifies the waiting calls. */
    happens(shopId: string): void {
      const subject = `message-${entries.length}`;
      entries.push([`${entries.length + 1}-0`, ['type', 'message.sent', 'shop', shopId, 'subject', subject]]);
      waiters.publish(TENANT);
    },
  };
}

test('an event for which many calls wait is read once, and so is its message', async () => {
  const { asked, waiters, list, happens } = inMemory();
  const calls = Array.from({ length: MOST_EVENT_WAITS.tenant }, () => list(30_000));
  await nextTurn();
  assert.equal(waiters.count, MOST_EVENT_WAITS.tenant);
  asked.reads = 0;
  happens('one');
  for (const listed of await Promise.all(calls))
    assert.deepEqual(listed.ok && listed.value.items.map(({ data }) => data), [{ id: 'message-0' }]);
  assert.deepEqual(asked, { reads: 1, messages: 1 });
  assert.equal(waiters.count, 0);
});

test('the record is read again for each event', async () => {
  const { list, happens } = inMemory();
  const all = list(30_000);
  const ofTwo = list(30_000, { shopId: 'two' });
  await nextTurn();
  happens('one');
  assert.equal((await all).ok, true);
  happens('two');
  const listed = await ofTwo;
  assert.deepEqual(listed.ok && listed.value.items.map(({ data }) => data), [{ id: 'message-1' }]);
});

test('without a free slot a call gets its events, or 503 OVERLOADED for five seconds if there are none', async () => {
  const { waiters, list, happens } = inMemory();
  admitted(waiters, TENANT, MOST_EVENT_WAITS.tenant);
  const refused = await list(30_000);
  assert.deepEqual(!refused.ok && [refused.failure.code, refused.failure.retryAfterSeconds], [
    'OVERLOADED',
    5,
  ]);
  assert.equal((await list(0)).ok, true);
  happens('one');
  const listed = await list(30_000);
  assert.equal(listed.ok && listed.value.items.length, 1);
  // Nothing of this shop, but the cursor goes on.
  const passed = await list(30_000, { shopId: 'two' });
  assert.deepEqual(passed.ok && [passed.value.items.length, passed.value.nextCursor === START], [0, false]);
});
