/**
 * One endpoint's pump when the endpoint gets another address. Attempts at the former address are under way then, or
 * wait for their turn.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cursorOf } from '../../../actors/tenants/stored-events/event-cursor.ts';
import type { WebhookRecord } from '../../../actors/tenants/stored-webhooks/webhook-record.ts';
import type { DeliveryResult } from '../../../actors/webhooks/deliver.ts';
import { HOUR_MS } from '../../../runtime/durations.ts';
import { deferred } from '../../testbed/deferred.ts';
import { propertyRuns } from '../../testbed/property-runs.ts';
import { seededRandom } from '../../testbed/seeded-random.ts';
import { fails, OK, World, webhookRecord } from './endpoint-world.ts';

const [FORMER, PRESENT] = ['https://former.example', 'https://present.example'] as const;

/** A world whose former address leaves attempts under way until they are answered, by the ids of their events. */
function moving() {
  const world = new World();
  const answers = new Map<string, (deliveryResult: DeliveryResult) => void>();
  const hangs = (id: string): Promise<DeliveryResult> =>
    new Promise((resolve) => {
      answers.set(id, resolve);
    });
  world.answer = (id, url) => (url === FORMER ? hangs(id) : OK);
  const pump = world.start({ url: FORMER });
  const move = (record: Partial<WebhookRecord> = {}): void =>
    pump.update(webhookRecord({ url: PRESENT, enabledAtMs: world.clock.wallMs(), ...record }));
  const answer = (id: string, deliveryResult: DeliveryResult): void => answers.get(id)?.(deliveryResult);
  const idsAt = (url: string): string[] => world.sent.filter((one) => one.url === url).map(({ id }) => id);
  return { world, pump, move, answer, idsAt };
}

/** The ids of a world's events, in their order. */
const idsOf = ({ stream }: World): string[] => stream.map(({ streamId }) => cursorOf(streamId));

test('new events go to the present address at once while as many hang at the former one as may, and those follow as they end', async () => {
  const { world, pump, move, answer, idsAt } = moving();
  world.add(12);
  await world.clock.advance(3_000);
  const ids = idsOf(world);
  const [first = '', second = ''] = ids;
  assert.deepEqual(idsAt(FORMER), ids.slice(0, 8));
  move();
  await world.clock.advance(1);
  assert.deepEqual(idsAt(PRESENT), ids.slice(8), 'what hangs may yet be taken by the former address');
  answer(first, fails(500));
  answer(second, OK);
  await world.clock.advance(1);
  assert.deepEqual(idsAt(PRESENT), [...ids.slice(8), first]);
  for (const id of ids.slice(2, 8)) answer(id, fails(null));
  await world.clock.advance(1);
  assert.deepEqual(idsAt(PRESENT), [...ids.slice(8), first, ...ids.slice(2, 8)]);
  await world.clock.advance(2 * HOUR_MS);
  assert.deepEqual([idsAt(FORMER).length, idsAt(PRESENT).length], [8, 11], 'nothing is sent once more');
  // Each try at either address is recorded, with its end.
  const ends = world.attempts.filter(({ eventId }) => eventId === first).map(({ status }) => status);
  assert.deepEqual([world.attempts.length, ends], [19, [500, 204]]);
  assert.deepEqual([world.stored?.retries, world.stored?.failingSinceMs], [[], null]);
  pump.stop();
});

test('a Retry-After of the former address does not hold the present one, nor does its failure count there', async () => {
  const { world, pump, move, answer, idsAt } = moving();
  world.add(1);
  await world.clock.advance(3_000);
  const [id = ''] = idsOf(world);
  move();
  world.answer = () => fails(500);
  answer(id, fails(503, 10 * HOUR_MS));
  const movedMs = world.clock.wallMs();
  await world.clock.advance(1);
  assert.deepEqual(idsAt(PRESENT), [id]);
  assert.deepEqual([world.stored?.heldUntilMs, world.stored?.failingSinceMs], [null, movedMs]);
  // It is the first try there, by its number and by what follows it.
  assert.deepEqual(
    world.attempts.map(({ number, status }) => [number, status]),
    [
      [1, 503],
      [1, 500],
    ],
  );
  world.answer = () => OK;
  await world.clock.advance(5_600);
  assert.deepEqual(idsAt(PRESENT), [id, id]);
  pump.stop();
});

for (const title of ['the pump that saw it', 'a pump that begins from what is stored'] as const) {
  test(`${title} ignores the Retry-After of a former address that has accepted other events since`, async () => {
    const { world, pump, move, idsAt } = moving();
    world.answer = () => OK;
    world.add(1);
    await world.clock.advance(1_000);
    world.add(2);
    const [, asks = ''] = idsOf(world);
    world.answer = (id, url) => (id === asks && url === FORMER ? fails(429, 10 * HOUR_MS) : OK);
    await world.clock.advance(1_000);
    world.add(1);
    await world.clock.advance(HOUR_MS);
    assert.deepEqual([idsAt(FORMER).length, world.stored?.failingSinceMs], [3, null], 'it is held');
    if (title === 'the pump that saw it') {
      move();
    } else {
      pump.stop();
      world.start({ url: PRESENT, enabledAtMs: world.clock.wallMs() });
    }
    await world.clock.advance(1);
    assert.deepEqual(idsAt(PRESENT), [asks, idsOf(world).at(-1)]);
    world.pump?.stop();
  });
}

for (const title of ['the pump that saw it', 'a pump that begins from what is stored'] as const) {
  test(`a Retry-After that comes after the move, before the loop notices it, is dropped by ${title}`, async () => {
    const { world, pump, move, answer, idsAt } = moving();
    world.add(1);
    await world.clock.advance(100);
    const [id = ''] = idsOf(world);
    const enabledAtMs = world.clock.wallMs();
    await world.clock.advance(100);
    answer(id, fails(503, 10 * HOUR_MS));
    await world.clock.advance(100);
    if (title === 'the pump that saw it') {
      move({ enabledAtMs });
    } else {
      pump.stop();
      world.start({ url: PRESENT, enabledAtMs });
    }
    await world.clock.advance(6_000);
    assert.deepEqual(idsAt(PRESENT), [id]);
    world.pump?.stop();
  });
}

test('a late success of the former address ends no failures of the present one', async () => {
  const { world, pump, move, answer, idsAt } = moving();
  world.add(1);
  await world.clock.advance(3_000);
  const [hangs = ''] = idsOf(world);
  move();
  world.answer = () => fails(500);
  world.add(1);
  await world.clock.advance(1_000);
  const failingSinceMs = world.stored?.failingSinceMs;
  assert.ok(failingSinceMs);
  answer(hangs, OK);
  await world.clock.advance(1_000);
  assert.deepEqual([world.stored?.failingSinceMs, idsAt(PRESENT).includes(hangs)], [failingSinceMs, false]);
  pump.stop();
});

test('the present address does not count as slow because of the former one, neither at first nor by its late answers', async () => {
  const { world, pump, move, answer } = moving();
  world.add(2);
  await world.clock.advance(1_100);
  const [first = '', second = ''] = idsOf(world);
  // The first took more than a second by then, and the second has just gone out.
  move();
  world.add(1);
  await world.clock.advance(1);
  answer(second, OK);
  await world.clock.advance(1);
  answer(first, OK);
  await world.clock.advance(1);
  world.add(2);
  await world.clock.advance(1);
  const paces = world.sent.map(({ url, pace }) => [url, pace]);
  assert.deepEqual(paces, [
    [FORMER, 'unknown'],
    [FORMER, 'slow'],
    [PRESENT, 'unknown'],
    [PRESENT, 'quick'],
    [PRESENT, 'quick'],
  ]);
  pump.stop();
});

test('the last try of an event fails at the former address, and the event goes to the present one', async () => {
  const { world, pump, move, answer, idsAt } = moving();
  const { answer: hangs } = world;
  world.answer = () => fails(500);
  world.add(1);
  // The seventh attempt comes after 17.6 hours and the eighth after 27.6, each a tenth earlier or later.
  await world.clock.advance(22 * HOUR_MS);
  const [id = ''] = idsOf(world);
  world.answer = hangs;
  await world.clock.advance(9 * HOUR_MS);
  assert.deepEqual([world.attempts.length, idsAt(FORMER).length], [7, 8]);
  move();
  answer(id, fails(null));
  await world.clock.advance(1);
  assert.deepEqual([world.dead, idsAt(PRESENT)], [[], [id]]);
  assert.deepEqual(
    world.attempts.slice(7).map(({ number, isDead, error }) => [number, isDead, error]),
    [
      [8, false, 'no'],
      [8, false, null],
    ],
  );
  pump.stop();
});

test('attempts that wait for slots when the endpoint moves are made at its present address, once, and wait no longer', async () => {
  const { world, pump, move, idsAt } = moving();
  const slot = deferred();
  world.answer = () => OK;
  world.add(1);
  await world.clock.advance(1_000);
  // The first of these begins, so the others are late; then all of the next few wait.
  let begun = 0;
  world.untilSlot = () => (++begun > 1 ? slot.promise : undefined);
  world.add(10);
  await world.clock.advance(2_000);
  assert.equal(world.sent.length, 2);
  const ids = idsOf(world);
  world.untilSlot = () => undefined;
  move();
  await world.clock.advance(1);
  assert.deepEqual(idsAt(PRESENT), ids.slice(2));
  slot.resolve();
  await world.clock.advance(HOUR_MS);
  assert.deepEqual([world.sent.length, world.attempts.length, idsAt(FORMER)], [11, 11, ids.slice(0, 2)]);
  assert.deepEqual(world.stored?.retries, []);
  pump.stop();
});

test('an attempt just before the endpoint moved delays the present address no more than a late one', async () => {
  const { world, pump, move, answer, idsAt } = moving();
  world.add(3);
  await world.clock.advance(100);
  const [first = '', ...others] = idsOf(world);
  move();
  await world.clock.advance(1);
  assert.deepEqual([idsAt(FORMER), idsAt(PRESENT)], [[first], others]);
  answer(first, fails(410));
  await world.clock.advance(1);
  assert.deepEqual([idsAt(PRESENT), world.disabled], [[...others, first], []]);
  pump.stop();
});

test('an endpoint that gets its former address back sends nothing twice there', async () => {
  const { world, pump, move, idsAt } = moving();
  const slot = deferred();
  world.answer = () => OK;
  world.untilSlot = () => slot.promise;
  world.add(1);
  await world.clock.advance(1_000);
  move();
  move({ url: FORMER });
  world.untilSlot = () => undefined;
  slot.resolve();
  await world.clock.advance(1_000);
  assert.deepEqual([idsAt(FORMER), idsAt(PRESENT)], [idsOf(world), []]);
  pump.stop();
});

test('a loop that begins after a kill repeats attempts at the former address at the present one', async () => {
  const { world, pump, move, idsAt } = moving();
  world.add(3);
  await world.clock.advance(3_000);
  move();
  await world.clock.advance(1);
  pump.stop();
  world.start({ url: PRESENT, enabledAtMs: world.clock.wallMs() });
  await world.clock.advance(1_000);
  assert.deepEqual(idsAt(PRESENT), idsOf(world));
  world.pump?.stop();
});

test('over any moves, disabled or not, each event is taken once, by an address that the endpoint had when the try began', async (context) => {
  const { seed, numRuns } = propertyRuns(context, 40);
  for (let run = 0; run < numRuns; run += 1) {
    const world = new World(seed + run);
    const random = seededRandom(seed + run);
    const wait = (ms: number): Promise<void> =>
      new Promise((resolve) => void world.clock.after(Math.ceil(random() * ms), resolve));
    const taken: string[] = [];
    const strays: string[] = [];
    let url = 'https://0.example';
    let enabledAtMs = 0;
    world.untilSlot = () => (random() < 0.3 ? wait(4_000) : undefined);
    world.answer = async (id, at) => {
      if (at !== url) strays.push(id);
      if (random() < 0.5) await wait(random() < 0.5 ? 500 : 15_000);
      if (random() < 0.4) return fails(random() < 0.5 ? 500 : null, random() < 0.2 ? 10_000 : null);
      taken.push(id);
      return OK;
    };
    const pump = world.start({ url });
    for (let step = 0; step < 30; step += 1) {
      world.add(Math.floor(random() * 6));
      await world.clock.advance(Math.floor(random() * 3_000));
      if (random() < 0.3) {
        url = `https://${Math.floor(random() * 3)}.example`;
        enabledAtMs = world.clock.wallMs();
      }
      const disabled = random() < 0.2 ? ({ atMs: 0, why: 'operator' } as const) : null;
      if (disabled !== null) void pump.settle();
      pump.update(webhookRecord({ url, disabled, enabledAtMs }));
    }
    pump.update(webhookRecord({ url, enabledAtMs }));
    await world.clock.advance(32 * HOUR_MS);
    const ended = [...taken, ...(world.dead ?? [])].sort();
    assert.deepEqual([ended, strays], [idsOf(world).sort(), []], `seed ${seed}, run ${run}`);
    assert.equal(world.attempts.length, world.sent.length, `seed ${seed}, run ${run}`);
    pump.stop();
  }
});
