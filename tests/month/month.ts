import assert from 'node:assert/strict';
import { parseArgs } from 'node:util';
import { ShopMonth } from './shop-month.ts';
import { startWorld, type World } from './world.ts';

// npm run test:month [-- --days=30 --shops=3]: a month of shops, in minutes; see CONTRIBUTING.md.
const { values } = parseArgs({
  options: { days: { type: 'string', default: '30' }, shops: { type: 'string', default: '3' } },
});
const days = Number(values.days);
const shops = Number(values.shops);
const HOUR_MS = 3_600_000;
const MIB = 2 ** 20;
/** Until this day there are deployments, every third night; the process of the last of them lives to the end. */
const LAST_DEPLOYMENT = Math.floor(days / 2);
/** The days after which stored and resident data have levelled off: a retention, and two days. */
const LEVEL_AFTER = 9;
const MOST_GROWTH = 1.3;

interface Size {
  readonly day: number;
  readonly resident: number;
  readonly stored: number;
}

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
  const all: ShopMonth[] = [];
  for (let index = 0; index < shops; index += 1) all.push(await ShopMonth.begin(world, index));
  const sizes: Size[] = [];
  let drops = 0;
  let logins = world.logins();
  for (let day = 1; day <= days; day += 1) {
    await Promise.all(all.map((shop) => shop.day(day)));
    await pass(world, all, 14, 2);
    const cut = all[day % all.length];
    if (day % 3 === 1 && cut !== undefined) {
      await cut.cut();
      drops += 1;
      logins += 1;
    }
    if (day % 3 === 0 && day <= LAST_DEPLOYMENT) {
      await settled(all);
      await world.end();
      await Promise.all(all.map((shop) => shop.night(day)));
      await world.forward(10 * HOUR_MS);
      await world.start();
      logins += all.length;
    } else {
      await Promise.all(all.map((shop) => shop.night(day)));
      await pass(world, all, 10, 5);
    }
    await Promise.all(all.map((shop) => shop.morning(day)));
    await settled(all);
    const size = { day, ...(await world.size()) };
    sizes.push(size);
    console.log(
      `day ${day}: ${(size.resident / MIB).toFixed(0)} MiB resident, ${(size.stored / MIB).toFixed(2)} MiB in Redis`,
    );
  }
  for (const shop of all) await shop.check();
  assert.equal(
    await world.total('msgapi_session_unanswered_total'),
    0,
    'streams ended for a stanza nobody answered',
  );
  const ends = await world.total('msgapi_session_ends_total');
  const paired = await world.total('msgapi_session_ends_total{end="restart_required"}');
  assert.equal(paired, all.length, 'each phone was linked once');
  assert.equal(ends - paired, drops, 'sessions ended that nobody cut');
  assert.equal(world.logins(), logins, 'logins that nothing made necessary');
  report(all, sizes, { drops, logins });
}

/**
 * Moves time in steps. Before each step the network has all acknowledgements, because it ends a stream that lacks one
 * for fifty minutes.
 */
async function pass(world: World, all: readonly ShopMonth[], hours: number, step: number): Promise<void> {
  for (let hour = 0; hour < hours; hour += step) {
    await settled(all);
    await world.forward(step * HOUR_MS);
  }
}

async function settled(all: readonly ShopMonth[]): Promise<void> {
  await Promise.all(all.map((shop) => shop.untilAnswered()));
}

function report(all: readonly ShopMonth[], sizes: readonly Size[], caused: object): void {
  const counts: Record<string, number> = {};
  for (const shop of all)
    for (const [name, count] of Object.entries(shop.counts)) counts[name] = (counts[name] ?? 0) + count;
  console.log(JSON.stringify({ days, shops, ...counts, ...caused }));
  const last = sizes.at(-1);
  const stored = sizes[LEVEL_AFTER];
  const resident = sizes[LAST_DEPLOYMENT + LEVEL_AFTER];
  if (last === undefined || stored === undefined || resident === undefined) return;
  const [storedGrowth, residentGrowth] = [last.stored / stored.stored, last.resident / resident.resident];
  console.log(
    `a shop: ${(last.stored / shops / 1_024).toFixed(0)} KiB in Redis; since day ${stored.day} × ${storedGrowth.toFixed(2)}, ` +
      `resident since day ${resident.day} × ${residentGrowth.toFixed(2)}`,
  );
  assert.ok(storedGrowth < MOST_GROWTH, 'what Redis holds grows on');
  assert.ok(residentGrowth < MOST_GROWTH, 'the memory of the service grows on');
}
