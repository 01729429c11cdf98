/** One endpoint's pump: the schedule of its attempts, what ends it, and what a kill at any moment leaves behind. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cursorOf } from '../../../actors/tenants/stored-events/event-cursor.ts';
import type { DeliveryResult } from '../../../actors/webhooks/deliver.ts';
import { HOUR_MS } from '../../../runtime/durations.ts';
import { deferred } from '../../testbed/deferred.ts';
import { propertyRuns } from '../../testbed/property-runs.ts';
import { seededRandom } from '../../testbed/seeded-random.ts';
import { fails, OK, World, webhookRecord } from './endpoint-world.ts';

test('an event is tried eight times in a bit more than a day, and then is a dead letter that can be replayed', async () => {
  const world = new World();
  world.answer = () => fails(500);
  const pump = world.start();
  world.add(1);
  await world.clock.advance(30 * HOUR_MS);
  const id = cursorOf(world.stream[0]?.streamId ?? '');
  const times = world.times(id);
  const gaps = times.slice(1).map((atMs, index) => (atMs - (times[index] ?? 0)) / 1_000);
  const delays = [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000];
  assert.equal(gaps.length, delays.length);
  for (const [index, delay] of delays.entries()) {
    const gap = gaps[index] ?? 0;
    assert.ok(gap >= delay * 0.9 - 0.01 && gap <= delay * 1.1 + 0.01, `${gap} s in place of ${delay}`);
  }
  assert.deepEqual(world.dead, [id]);
  assert.deepEqual([world.attempts.length, world.attempts.at(-1)?.isDead], [8, true]);
  assert.equal(world.stored?.retries.length, 0);
  world.answer = () => OK;
  await pump.replay(world.stream);
  await world.clock.advance(1_000);
  assert.deepEqual([world.times(id).length, world.dead?.length, world.stored?.failingSinceMs], [9, 0, null]);
  pump.stop();
});

test('an endpoint that hangs is retried on its schedule, even if others hang meanwhile', async () => {
  const world = new World();
  world.answer = async () => {
    await new Promise<void>((resolve) => void world.clock.after(15_000, resolve));
    return fails(null);
  };
  const pump = world.start();
  world.add(6);
  await world.clock.advance(7_000);
  // These come while the first ones hang, and hang when those are due.
  world.add(6);
  await world.clock.advance(HOUR_MS);
  const seconds = world.stream.map(({ streamId }) => {
    const [first = 0, second = 0] = world.times(cursorOf(streamId));
    return (second - first) / 1_000;
  });
  // 15 s for the answer, 5 s up to a tenth more or less, and at most a second that others get.
  for (const gap of seconds)
    assert.ok(gap >= 19.5 && gap <= 21.5, `the second attempts came after ${seconds} s`);
  assert.ok(world.mostInFlight <= 16, `${world.mostInFlight} at a time`);
  pump.stop();
});

test('the first try of a new endpoint hangs, and delays its other events for a second', async () => {
  const world = new World();
  const pump = world.start();
  world.add(9);
  const [first = '', ...others] = world.stream.map(({ streamId }) => cursorOf(streamId));
  world.answer = async (id) => {
    if (id !== first) return OK;
    await new Promise<void>((resolve) => void world.clock.after(15_000, resolve));
    return fails(null);
  };
  await world.clock.advance(900);
  assert.deepEqual(
    world.sent.map(({ id }) => id),
    [first],
  );
  await world.clock.advance(600);
  assert.deepEqual(
    world.sent.map(({ id }) => id),
    [first, ...others],
  );
  pump.stop();
});

test('an event that fails at once while another hangs is retried after its own 5 seconds', async () => {
  const world = new World();
  const pump = world.start();
  world.add(1);
  await world.clock.advance(1_000);
  world.add(2);
  const [, hangs = '', quick = ''] = world.stream.map(({ streamId }) => cursorOf(streamId));
  world.answer = async (id) => {
    if (id !== hangs) return fails(500);
    await new Promise<void>((resolve) => void world.clock.after(15_000, resolve));
    return fails(null);
  };
  await world.clock.advance(8_000);
  const [first = 0, second = 0] = world.times(quick);
  assert.ok(second - first >= 4_500 && second - first <= 6_500, `${second - first} ms`);
  assert.equal(world.times(hangs).length, 1, 'it is on its way, and not sent beside that');
  // A kill meanwhile has it sent once more, as the same try.
  pump.stop();
  world.start();
  await world.clock.advance(60_000);
  assert.equal(world.times(hangs)[1], first + 8_000);
  assert.deepEqual(
    world.attempts.filter(({ eventId }) => eventId === hangs).map(({ number }) => number),
    [1, 2],
  );
  world.pump?.stop();
});

test('an event that the endpoint does not select is never sent, not even by a replay or a retry', async () => {
  const world = new World();
  world.answer = () => fails(500);
  const pump = world.start();
  world.add(1);
  await world.clock.advance(1_000);
  assert.equal(world.sent.length, 1);
  pump.update(webhookRecord({ shops: ['another'] }));
  await pump.replay(world.stream);
  await world.clock.advance(30 * HOUR_MS);
  assert.deepEqual([world.sent.length, world.stored?.retries, world.stored?.dead], [1, [], []]);
  pump.stop();
});

test('replayed events are stored by the reply, also during an attempt, and survive a kill at once', async () => {
  const world = new World();
  const pump = world.start();
  world.add(4);
  await world.clock.advance(1_000);
  assert.equal(world.sent.length, 4);
  // The pump hangs in a try meanwhile.
  let answer: (deliveryResult: DeliveryResult) => void = () => undefined;
  world.answer = () => new Promise<DeliveryResult>((resolve) => (answer = resolve));
  world.add(1);
  await world.clock.advance(1);
  const places = world.stream.map(({ streamId }) => streamId);
  assert.equal(await pump.replay(world.stream), true);
  assert.deepEqual(
    world.stored?.retries.map(({ place }) => place),
    places,
  );
  // The result of that try removes none of them.
  world.answer = () => OK;
  answer(OK);
  await world.clock.advance(0);
  assert.equal(await pump.replay(world.stream), true);
  pump.stop();
  const before = world.sent.length;
  world.start();
  await world.clock.advance(1_000);
  assert.deepEqual(new Set(world.sent.slice(before).map(({ id }) => id)), new Set(places.map(cursorOf)));
  world.pump?.stop();
});

test('an event that is replayed while its try runs is sent once more when that has ended', async () => {
  const world = new World();
  const pump = world.start();
  let answer: (deliveryResult: DeliveryResult) => void = () => undefined;
  world.answer = () => new Promise<DeliveryResult>((resolve) => (answer = resolve));
  world.add(1);
  await world.clock.advance(1);
  assert.equal(await pump.replay(world.stream), true);
  await world.clock.advance(1);
  assert.equal(world.sent.length, 1);
  world.answer = () => OK;
  answer(OK);
  await world.clock.advance(1);
  assert.equal(world.sent.length, 2);
  assert.deepEqual(world.stored?.retries, []);
  pump.stop();
});

test('a replay that would exceed the limit of waiting events is refused and changes nothing', async () => {
  const world = new World();
  world.answer = () => fails(429, 10 * HOUR_MS);
  const pump = world.start();
  world.add(1);
  await world.clock.advance(1_000);
  const events = Array.from({ length: 600 }, (_, index) => ({ streamId: `1-${index}`, shopId: 'shop' }));
  assert.equal(await pump.replay(events.slice(0, 200)), true);
  assert.equal(await pump.replay(events.slice(0, 200)), true, 'the same again are no more');
  assert.equal(await pump.replay(events.slice(200, 400)), false, 'with the one that failed they are 401');
  assert.equal(world.stored?.retries.length, 201);
  assert.equal(await pump.replay(events.slice(200, 399)), true);
  assert.equal(pump.waiting, 400);
  pump.stop();
});

test('events that fail delay none that come after them', async () => {
  const world = new World();
  const bad = new Set<string>();
  world.answer = (id) => (bad.has(id) ? fails(null) : OK);
  const pump = world.start();
  world.add(40);
  for (const [index, { streamId }] of world.stream.entries())
    if (index % 2 === 0) bad.add(cursorOf(streamId));
  await world.clock.advance(1_000);
  assert.equal(new Set(world.sent.map(({ id }) => id)).size, 40);
  assert.equal(world.stored?.retries.length, 20);
  pump.stop();
});

test('Retry-After delays an endpoint, and a 410 or five days of failures disable it', async () => {
  const world = new World();
  world.answer = () => fails(429, 60_000);
  world.start();
  world.add(1);
  await world.clock.advance(1_000);
  world.add(3);
  await world.clock.advance(58_000);
  assert.equal(world.sent.length, 1, 'also new events wait');
  world.answer = () => OK;
  await world.clock.advance(10_000);
  assert.equal(world.sent.length, 5);
  world.answer = () => fails(410);
  world.add(1);
  await world.clock.advance(1_000);
  assert.deepEqual(world.disabled, ['gone']);

  const failing = new World();
  failing.answer = () => fails(503);
  failing.start();
  for (let hour = 0; hour < 24 * 6 && failing.disabled.length === 0; hour += 1) {
    failing.add(1);
    await failing.clock.advance(HOUR_MS);
  }
  assert.deepEqual(failing.disabled, ['failing']);
  const days = (failing.clock.wallMs() - (failing.sent[0]?.atMs ?? 0)) / (24 * HOUR_MS);
  assert.ok(days >= 5 && days < 5.1, `${days} days`);
});

test('a node that is killed between an answer and its record sends once more under the same id, and loses none', async (context) => {
  const { seed, numRuns } = propertyRuns(context, 40);
  for (let run = 0; run < numRuns; run += 1) {
    const world = new World(seed + run);
    const random = seededRandom(seed + run);
    const taken = new Set<string>();
    world.answer = async (id) => {
      await new Promise<void>((resolve) => void world.clock.after(random() * 200, resolve));
      if (random() < 0.3) return fails(random() < 0.5 ? 500 : null);
      taken.add(id);
      return OK;
    };
    world.start();
    for (let step = 0; step < 20; step += 1) {
      world.add(Math.floor(random() * 6));
      await world.clock.advance(Math.floor(random() * 400));
      world.isAway = random() < 0.2;
      if (random() < 0.3) {
        // It is killed: it writes nothing more, and the next one starts from the stored state.
        world.pump?.stop();
        world.start();
      }
    }
    world.isAway = false;
    await world.clock.advance(32 * HOUR_MS);
    const kept = new Set([...taken, ...(world.dead ?? [])]);
    for (const { streamId } of world.stream)
      assert.ok(kept.has(cursorOf(streamId)), `seed ${seed}, run ${run}: ${streamId} was lost`);
    const ids = new Set(world.stream.map(({ streamId }) => cursorOf(streamId)));
    assert.ok(world.sent.every(({ id }) => ids.has(id)));
    world.pump?.stop();
  }
});

test('a loop that settles begins no attempt, and stores the result of the one in flight before it has ended', async () => {
  const world = new World();
  let answer = (_: DeliveryResult): void => undefined;
  world.answer = () => new Promise((resolve) => (answer = resolve));
  const pump = world.start();
  world.add(1);
  await world.clock.advance(1_000);
  assert.equal(world.sent.length, 1);
  let hasSettled = false;
  const settled = pump.settle().then(() => (hasSettled = true));
  world.add(1);
  await world.clock.advance(5_000);
  assert.deepEqual([world.sent.length, hasSettled], [1, false]);
  answer(OK);
  await settled;
  await world.clock.advance(5_000);
  assert.deepEqual([world.sent.length, world.attempts.length], [1, 1]);
  assert.equal(world.stored?.cursor, world.stream[0]?.streamId);
  // An idle one, and one whose store is away, settle at once.
  const idlePump = world.start();
  await world.clock.advance(1_000);
  answer(OK);
  await world.clock.advance(1_000);
  await idlePump.settle();
  world.isAway = true;
  const away = world.start();
  world.add(1);
  await world.clock.advance(1_000);
  answer(OK);
  await world.clock.advance(500);
  await away.settle();
});

test('an attempt that gets a slot after its loop has ended does not begin, and the next loop makes it first', async () => {
  const world = new World();
  const slot = deferred();
  const [first, second] = [1, 2].map((place) => cursorOf(`${world.clock.wallMs() + 1_000}-${place}`));
  world.untilSlot = (id) => (id === second ? slot.promise : undefined);
  const pump = world.start();
  world.add(1);
  await world.clock.advance(1_000);
  const readAtMs = world.clock.wallMs();
  world.add(3);
  await world.clock.advance(1_000);
  assert.equal(world.sent.length, 3, 'the first alone, then all but the one that waits');
  const settled = pump.settle();
  slot.resolve();
  await settled;
  assert.deepEqual(world.times(second ?? ''), []);
  assert.deepEqual(world.stored?.retries, [
    { place: world.stream[2]?.streamId, shopId: 'shop', attemptCount: 0, dueAtMs: readAtMs },
  ]);
  world.start();
  await world.clock.advance(1_000);
  assert.equal(world.times(first ?? '').length, 1);
  assert.equal(world.times(second ?? '').length, 1);
  world.pump?.stop();
});

test('an endpoint that was removed while its attempts waited for slots gets and stores nothing', async () => {
  const world = new World();
  const slot = deferred();
  world.untilSlot = () => slot.promise;
  const pump = world.start();
  world.add(1);
  await world.clock.advance(1_000);
  pump.stop();
  slot.resolve();
  await world.clock.advance(1_000);
  assert.deepEqual([world.sent, world.stored], [[], undefined]);
});
