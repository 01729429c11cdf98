/**
 * A month of shops (bench/README.md, A month of large accounts). `npm run test:month [-- --days=30 --shops=3
 * --minutes=600]`
 */

import assert from 'node:assert/strict';
import { parseArgs } from 'node:util';
import { HOUR_MS, MINUTE_MS } from '../../runtime/durations.ts';
import { ShopMonth } from './shop-month.ts';
import { type Size, startWorld, type World } from './world.ts';

const { values } = parseArgs({
  options: {
    days: { type: 'string', default: '30' },
    shops: { type: 'string', default: '3' },
    minutes: { type: 'string', default: '600' },
  },
});
const days = Number(values.days);
const shops = Number(values.shops);
/** No further day begins after this time. */
const mostMs = Number(values.minutes) * MINUTE_MS;
/** The number of shops that are linked at once. */
const AT_ONCE = 5;
const MIB = 2 ** 20;
/** The day of the last deployment; there is one every fifth night. The process of the last one lives to the end. */
const LAST_DEPLOYMENT = Math.floor(days / 2);
const DEPLOYMENT_DAYS = 5;
/** The day after which stored data have levelled off: a retention, and two days. */
const LEVEL_AFTER = 9;
/** How much more than on the first day, or the level one, may be there on the last day. */
const MOST_GROWTH = 1.2;
/**
 * The lowest memory of so many last days counts. Garbage counts as memory until a full collection, and not every five
 * days have one. The last days are at most a third of all, so that the first one is not among them.
 */
const LAST_DAYS = 10;
/**
 * The share of logins whose openings may come too late. One does if the network, a part of this process, sends it
 * nothing for half a minute. Nothing but a starved machine makes more of them, and its other figures say little either.
 */
const MOST_LATE = 0.05;
/** Within this time each shop hears a STOP at the end, in milliseconds. */
const HEARD_MS = 1_000;

type DaySize = Size & { readonly day: number };

const world = await startWorld();
try {
  await month(world);
} catch (error) {
  console.log(world.node.log().slice(-2_000));
  throw error;
} finally {
  await world.stop();
}

async function month(world: World): Promise<void> {
  const startedMs = performance.now();
  const minutes = (): string => ((performance.now() - startedMs) / MINUTE_MS).toFixed(1);
  const months: ShopMonth[] = [];
  while (months.length < shops) {
    const next = Array.from(
      { length: Math.min(AT_ONCE, shops - months.length) },
      (_, index) => months.length + index,
    );
    months.push(...(await Promise.all(next.map((index) => ShopMonth.begin(world, index)))));
  }
  console.log(`${shops} shops are linked after ${minutes()} min`);
  const sizes: DaySize[] = [];
  let drops = 0;
  let logins = world.logins();
  for (let day = 1; day <= days && performance.now() - startedMs < mostMs; day += 1) {
    await Promise.all(months.map((shop) => shop.day(day)));
    await pass(world, months, 14);
    const cut = months[day % months.length];
    if (day % 3 === 1 && cut !== undefined) {
      await cut.cut(day);
      drops += 1;
      logins += 1;
    }
    const isAway = day % DEPLOYMENT_DAYS === 0 && day <= LAST_DEPLOYMENT;
    if (isAway) {
      await settled(months);
      await world.end();
    }
    await Promise.all(months.map((shop) => shop.night(day, isAway)));
    if (isAway) {
      await world.forward(10 * HOUR_MS);
      await world.start();
      logins += months.length;
    } else {
      await pass(world, months, 10);
    }
    await Promise.all(months.map((shop) => shop.morning(day)));
    await settled(months);
    const size = { day, ...(await world.size()) };
    sizes.push(size);
    console.log(
      `day ${day}: ${(size.resident / MIB).toFixed(0)} MiB resident, heaps ${(size.heaps / MIB).toFixed(0)} MiB, ` +
        `${(size.stored / MIB).toFixed(2)} MiB and ` +
        `${size.keys} keys in Redis, ${minutes()} min`,
    );
  }
  const heardMs: number[] = [];
  for (const shop of months) heardMs.push(await shop.stillWorks());
  for (const shop of months) await shop.check();
  assert.equal(
    await world.total('msgapi_session_unanswered_total'),
    0,
    'streams ended for a stanza nobody answered',
  );
  const drained = await world.total('msgapi_session_offline_drained_total');
  const received = await world.total('msgapi_session_received_total');
  const ends = await world.total('msgapi_session_ends_total');
  const paired = await world.total('msgapi_session_ends_total{end="restart_required"}');
  const lateOpenings = world.lateOpenings();
  const counts = countsOf(months);
  report(counts, sizes, {
    drops,
    logins: world.logins(),
    lateOpenings,
    drained,
    received,
    slowestStopMs: Math.round(Math.max(...heardMs)),
  });
  const { waited = 0, heard = 0, heardLate = 0, stops = 0 } = counts;
  assert.ok(drained >= waited, `of ${waited} stanzas that waited at logins ${drained} came`);
  assert.ok(received >= heard + stops, `of ${heard + stops} messages of people ${received} were received`);
  assert.ok(heardLate <= MOST_LATE * heard, `${heardLate} messages of people were heard late`);
  assert.equal(paired, months.length, 'each phone was linked once');
  assert.equal(ends - paired - lateOpenings, drops, 'sessions ended that nobody cut');
  assert.ok(
    lateOpenings <= MOST_LATE * world.logins(),
    `${lateOpenings} of ${world.logins()} openings came too late`,
  );
  const unneeded = world.logins() - logins;
  assert.ok(unneeded >= 0 && unneeded <= lateOpenings, `${unneeded} logins that nothing made necessary`);
  assert.ok(Math.max(...heardMs) < HEARD_MS, 'a STOP took longer');
}

function lowest(sizes: readonly DaySize[], figure: 'resident' | 'heaps'): number {
  return Math.min(...sizes.map((size) => size[figure]));
}

/**
 * Moves time in two steps. Before each step the network has all acknowledgements, because it ends a stream that lacks
 * one for fifty minutes.
 */
async function pass(world: World, months: readonly ShopMonth[], hours: number): Promise<void> {
  for (let step = 0; step < 2; step += 1) {
    await settled(months);
    await world.forward((hours / 2) * HOUR_MS);
  }
}

async function settled(months: readonly ShopMonth[]): Promise<void> {
  await Promise.all(months.map((shop) => shop.untilAnswered()));
}

function countsOf(months: readonly ShopMonth[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const shop of months)
    for (const [name, count] of Object.entries(shop.counts)) counts[name] = (counts[name] ?? 0) + count;
  return counts;
}

function report(counts: object, sizes: readonly DaySize[], caused: object): void {
  console.log(JSON.stringify({ days: sizes.length, shops, ...counts, ...caused }));
  const [first, lastSize, level] = [sizes[0], sizes.at(-1), sizes[LEVEL_AFTER - 1]];
  if (first === undefined || lastSize === undefined) return;
  const lastDays = sizes.slice(-Math.min(LAST_DAYS, Math.ceil(sizes.length / 3)));
  const growth = {
    resident: lowest(lastDays, 'resident') / first.resident,
    heaps: lowest(lastDays, 'heaps') / first.heaps,
    keys: lastSize.keys / first.keys,
    ...(level === undefined ? {} : { stored: lastSize.stored / level.stored }),
  };
  console.log(
    `a shop: ${(lastSize.stored / shops / 1_024).toFixed(0)} KiB and ${Math.round(lastSize.keys / shops)} keys in Redis; ` +
      `against the first day (stored: day ${LEVEL_AFTER}): ${JSON.stringify(growth)}`,
  );
  for (const [figure, times] of Object.entries(growth))
    assert.ok(times < MOST_GROWTH, `${figure}: ${times} times`);
}
