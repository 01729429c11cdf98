/** One endpoint's pump while other things fail: the store, one event of several, the address that it had before. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cursorOf } from '../../../actors/tenants/stored-events/event-cursor.ts';
import type { DeliveryResult } from '../../../actors/webhooks/deliver.ts';
import { firstProgress } from '../../../actors/webhooks/progress.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../runtime/durations.ts';
import { RuntimeFailure } from '../../../runtime/runtime-failure.ts';
import { comparable } from '../../testbed/line-log.ts';
import { fails, OK, World, webhookRecord } from './endpoint-world.ts';

test('events that could not be read are sent as soon as they can', async () => {
  const world = new World();
  world.start();
  await world.clock.advance(1_000);
  world.isUnread = true;
  world.add(1);
  await world.clock.advance(5_000);
  world.isUnread = false;
  await world.clock.advance(2_000);
  assert.equal(world.sent.length, 1);
  world.pump?.stop();
});

test('events that cannot be read are lines at debug, and a defect is an error in the log, without its message', async () => {
  const world = new World();
  world.isUnread = true;
  world.add(1);
  world.start();
  await world.clock.advance(2_000);
  const message = 'the delivery to a webhook stopped; it is tried again';
  const { lines } = world.log;
  assert.ok(lines.length > 0);
  const debugLine = { level: 'debug', webhookId: 'hook', error: 'RuntimeFailure', message };
  for (const line of lines) assert.deepEqual(comparable(line), debugLine);
  lines.length = 0;
  world.readError = new TypeError('Dear Ann');
  await world.clock.advance(1_000);
  assert.deepEqual(lines.map(comparable), [
    { level: 'error', webhookId: 'hook', error: 'TypeError', message },
  ]);
  assert.doesNotMatch(JSON.stringify(lines), /Dear/);
  world.pump?.stop();
});

test('an event without a notification is found within minutes', async () => {
  const world = new World();
  const pump = world.start();
  await world.clock.advance(1_000);
  world.pump = undefined;
  world.add(1);
  world.pump = pump;
  await world.clock.advance(10 * MINUTE_MS);
  assert.equal(world.sent.length, 1);
  pump.stop();
});

test('a stored retry whose time is not a number is sent at once, and the loop sleeps', async () => {
  const world = new World();
  const sleeps: number[] = [];
  world.pumpClock = {
    wallMs: () => world.clock.wallMs(),
    monotonicMs: () => world.clock.monotonicMs(),
    // Node makes one millisecond of a wait that is not a number.
    after(ms, callback) {
      sleeps.push(ms);
      return world.clock.after(Number.isNaN(ms) ? 1 : ms, callback);
    },
  };
  world.add(1);
  const [place = ''] = world.stream.map(({ streamId }) => streamId);
  const retry = { place, shopId: 'shop', attemptCount: 1, dueAtMs: 'soon' as unknown as number };
  world.stored = { ...firstProgress(webhookRecord()), cursor: place, retries: [retry] };
  world.start();
  await world.clock.advance(1_000);
  assert.deepEqual([world.times(cursorOf(place)).length, world.stored.retries], [1, []]);
  assert.ok(sleeps.length < 5, `it slept ${sleeps.length} times within a second`);
  world.pump?.stop();
});

test('an event that cannot be shown yet has nothing sent twice, and one that never can delays no other', async () => {
  const world = new World();
  world.add(8);
  const [, , bad = ''] = world.stream.map(({ streamId }) => cursorOf(streamId));
  world.body = (id) => {
    if (id === bad) throw new RuntimeFailure('STORE_UNAVAILABLE', 'away');
    return id;
  };
  world.start();
  await world.clock.advance(10_000);
  // One goes ahead, until it is known how the endpoint answers.
  assert.equal(world.sent.length, 1);
  world.body = (id) => {
    if (id === bad) throw new SyntaxError('not JSON');
    return id;
  };
  world.log.lines.length = 0;
  await world.clock.advance(DAY_MS * 2);
  const unreadable = {
    level: 'error',
    webhookId: 'hook',
    error: 'SyntaxError',
    message: 'an event cannot be read',
  };
  const [place = ''] = world.stream.map(({ streamId }) => streamId).filter((id) => cursorOf(id) === bad);
  const badLines = world.log.lines.filter(({ level }) => level === 'error');
  assert.deepEqual(badLines.map(comparable)[0], { ...unreadable, place });
  assert.doesNotMatch(JSON.stringify(badLines), /not JSON/);
  assert.deepEqual([world.sent.length, new Set(world.sent.map(({ id }) => id)).size], [7, 7]);
  assert.deepEqual(world.dead, [bad]);
  world.body = (id) => id;
  await world.pump?.replay(world.stream.filter(({ streamId }) => cursorOf(streamId) === bad));
  await world.clock.advance(1_000);
  assert.equal(world.times(bad).length, 1);
  world.pump?.stop();
});

test('an event that is cut off while it waits to be tried again is reported, and an erased one is not', async () => {
  for (const cutOffMs of [undefined, 1_800_000_000_000]) {
    const world = new World();
    world.answer = () => fails(500);
    world.start();
    world.add(2);
    await world.clock.advance(1_000);
    world.stream.shift();
    world.cutOffMs = cutOffMs;
    await world.clock.advance(10_000);
    assert.deepEqual(
      [world.missed, world.stored?.missedUntilMs],
      [cutOffMs === undefined ? [] : [cutOffMs], cutOffMs],
    );
    assert.equal(world.stored?.retries.length, 1);
    world.pump?.stop();
  }
});

test('an answer of the former address does not count for the present one', async () => {
  const world = new World();
  let answer: (deliveryResult: DeliveryResult) => void = () => undefined;
  world.answer = () => new Promise<DeliveryResult>((resolve) => (answer = resolve));
  const pump = world.start({ url: 'https://one.example' });
  world.add(1);
  await world.clock.advance(1_000);
  world.answer = () => OK;
  pump.update(webhookRecord({ url: 'https://other.example' }));
  answer(fails(410));
  await world.clock.advance(10_000);
  assert.deepEqual([world.disabled, world.sent.length], [[], 2]);
  pump.stop();
});

test('a 410 disables the endpoint as it was at that time, whatever it becomes before it is disabled', async () => {
  const world = new World();
  world.answer = () => fails(410);
  const enabledAtMs = world.clock.wallMs();
  const pump = world.start({ enabledAtMs });
  world.add(1);
  await world.clock.advance(1_000);
  assert.deepEqual([world.disabled, world.judgedStarts], [['gone'], [enabledAtMs]]);
  pump.stop();
});

test('an endpoint that is enabled again, or moved, starts without its old failures and without a wait', async () => {
  const world = new World();
  world.answer = () => fails(503, 10 * HOUR_MS);
  const pump = world.start();
  for (let half = 0; half < 2 * 5 - 1; half += 1) {
    world.add(1);
    await world.clock.advance(DAY_MS / 2);
  }
  assert.deepEqual(world.disabled, []);
  const sentCount = world.sent.length;
  world.answer = () => fails(500);
  pump.update(webhookRecord({ enabledAtMs: world.clock.wallMs() }));
  await world.clock.advance(1_000);
  assert.ok(world.sent.length > sentCount, 'it is not held any more');
  world.add(1);
  await world.clock.advance(DAY_MS);
  assert.deepEqual(world.disabled, []);
  await world.clock.advance(DAY_MS * 3);
  for (let half = 0; half < 4; half += 1) {
    world.add(1);
    await world.clock.advance(DAY_MS / 2);
  }
  assert.deepEqual(world.disabled, ['failing']);
  pump.stop();
});

test('an event that is replayed before it gets a slot is sent once', async () => {
  const world = new World();
  world.answer = () => fails(503, MINUTE_MS);
  world.start();
  world.add(1);
  await world.clock.advance(1_000);
  world.answer = () => OK;
  world.add(12);
  // The newest first, so that some are read before their replay is looked at.
  assert.equal(await world.pump?.replay([...world.stream].reverse()), true);
  await world.clock.advance(10 * MINUTE_MS);
  const tries = world.stream.map(({ streamId }) => world.times(cursorOf(streamId)).length);
  assert.deepEqual(tries, [2, ...Array.from({ length: 12 }, () => 1)]);
  assert.deepEqual(world.stored?.retries, []);
  world.pump?.stop();
});

test('a loop that continues and settles once more has settled when all its attempts have ended', async () => {
  const world = new World();
  const pump = world.start();
  world.add(1);
  await world.clock.advance(1_000);
  const answers: (() => void)[] = [];
  world.answer = () => new Promise((resolve) => answers.push(() => resolve(OK)));
  let settled = 0;
  const settle = (): void => void pump.settle().then(() => (settled += 1));
  world.add(1);
  await world.clock.advance(1_500);
  settle();
  await world.clock.advance(1);
  pump.update(webhookRecord());
  world.add(1);
  await world.clock.advance(1_500);
  settle();
  const [first, second] = answers;
  first?.();
  await world.clock.advance(1);
  assert.deepEqual([answers.length, settled], [2, 0]);
  second?.();
  await world.clock.advance(1);
  assert.deepEqual([settled, world.stored?.retries], [2, []]);
});

test('a loop has settled when the replay that it took is stored', async () => {
  const world = new World();
  const pump = world.start();
  world.add(1);
  await world.clock.advance(1_000);
  let take = (): void => undefined;
  world.untilStored = () => new Promise((resolve) => (take = resolve));
  const replayed = pump.replay(world.stream);
  let isSettled = false;
  void pump.settle().then(() => (isSettled = true));
  await world.clock.advance(1);
  assert.equal(isSettled, false);
  take();
  await world.clock.advance(1);
  assert.deepEqual([isSettled, await replayed, world.stored?.retries.length], [true, true, 1]);
});

test('the result of a long attempt is recorded even if the endpoint could not be disabled meanwhile', async () => {
  const world = new World();
  world.start();
  world.add(1);
  await world.clock.advance(1_000);
  world.add(2);
  const [, gone = '', slow = ''] = world.stream.map(({ streamId }) => cursorOf(streamId));
  world.answer = async (id) => {
    if (id === gone) return fails(410);
    await new Promise<void>((resolve) => void world.clock.after(3_000, resolve));
    return OK;
  };
  world.isKept = true;
  await world.clock.advance(4_500);
  world.isKept = false;
  await world.clock.advance(MINUTE_MS);
  assert.deepEqual([world.times(slow).length, world.times(gone).length], [1, 2]);
  assert.deepEqual(
    world.attempts.map(({ eventId, error }) => [eventId, error]).filter(([id]) => id === slow),
    [[slow, null]],
  );
  assert.deepEqual(world.disabled, ['gone']);
});
