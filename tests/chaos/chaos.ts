/**
 * `npm run test:chaos`: every fault at full length under traffic, on one Redis and on a Redis Cluster, with the bounds
 * of the contract. Says what it does while it runs, prints a table at the end, and exits 1 when anything was lost,
 * doubled, too slow or unanswered. TEST_SEED repeats the moments.
 */
import { testEnvironment } from '../../bin/environment.ts';
import { seededRandom } from '../../runtime/random.ts';
import { type Fleet, startFleet } from '../e2e/fleet.ts';
import { openShops } from './chaos-shops.ts';
import { lineFault } from './link-faults.ts';
import { handOver, stopped, takeOver } from './node-faults.ts';
import { type Fault, type Figures, runFault } from './scenario.ts';
import { storeDown, storeRefuses } from './store-faults.ts';

const { seed = Date.now() % 2 ** 31 } = testEnvironment();
const random = seededRandom(seed);
const startedMs = performance.now();
const failures: string[] = [];

const SHOPS = 6;
/** Fewer than half of what a young number may send in an hour: sends that must be refused for a fault come on top. */
const MESSAGES_A_SHOP = 4;

const onOneRedis: readonly Fault[] = [
  handOver,
  takeOver,
  stopped('shorter than the lease', 3_000),
  stopped('longer than the lease', 10_000),
  lineFault('cut', 1_000),
  lineFault('cut', 8_000),
  lineFault('stall', 1_500),
  lineFault('stall', 8_000),
  storeDown(3_000),
  storeDown(30_000),
  storeRefuses('full', 3_000),
  storeRefuses('read-only', 3_000),
];
const onCluster: readonly Fault[] = [handOver, takeOver, storeDown(10_000)];

function say(line: string): void {
  console.log(`${String(Math.round((performance.now() - startedMs) / 1_000)).padStart(4)} s  ${line}`);
}

/** Inflicts one fault after the other; two share their shops, since a young number may send only ten an hour. */
async function inflictAll(fleet: Fleet, faults: readonly Fault[], where: string): Promise<Figures[]> {
  const figures: Figures[] = [];
  let shops = await openShops(fleet, SHOPS);
  for (const [index, fault] of faults.entries()) {
    if (index > 0 && index % 2 === 0) shops = await openShops(fleet, SHOPS);
    const name = `${fault.name}, ${where}`;
    say(`${name} …`);
    try {
      const run = { fleet, random, shops, messagesPerShop: MESSAGES_A_SHOP, trafficMs: 6_000, timeout: 1 };
      const measured = await runFault(run, { ...fault, name });
      figures.push(measured);
      say(`${name}: well again after ${measured.recoveredMs} ms; ${measured.note}`);
    } catch (error) {
      failures.push(name);
      say(`${name}: FAILED: ${error instanceof Error ? error.message : String(error)}`);
      shops = await openShops(fleet, SHOPS);
    }
  }
  return figures;
}

async function onFleet(redis: 'single' | 'cluster', faults: readonly Fault[], where: string) {
  say(`three nodes on ${where} …`);
  const fleet = await startFleet({ nodes: 3, redis });
  try {
    return await inflictAll(fleet, faults, where);
  } finally {
    await fleet.stop();
  }
}

/** The figures as a table of Markdown. */
function table(rows: readonly Figures[]): string {
  const head =
    '| Fault | Well again | Requests | Asked again | Accepted | Sent | Failed BOT_RESTARTED | Lost | Doubled | |';
  const lines = rows.map((row) => {
    const { fault, recoveredMs, requests, retries, accepted, sent, uncertain, lost, doubled, note } = row;
    const cells = [
      fault,
      `${(recoveredMs / 1_000).toFixed(1)} s`,
      requests,
      retries,
      accepted,
      sent,
      uncertain,
      lost,
    ];
    return `| ${[...cells, doubled, note].join(' | ')} |`;
  });
  return [head, `|${' --- |'.repeat(10)}`, ...lines].join('\n');
}

say(`seed ${seed}`);
const rows = [
  ...(await onFleet('single', onOneRedis, 'one Redis')),
  ...(await onFleet('cluster', onCluster, 'a Redis Cluster of three masters')),
];
console.log(`\n${table(rows)}\n`);
say(failures.length === 0 ? 'every promise held' : `FAILED: ${failures.join('; ')}`);
process.exit(failures.length === 0 ? 0 : 1);
