/**
 * `npm run test:chaos`: every fault at full length under traffic, on one Redis and on a Redis Cluster, with the bounds
 * of the contract. It prints its progress, and a table at the end. It exits 1 if anything was lost, doubled, too slow
 * or unanswered. TEST_SEED repeats the moments. `-- --fault=<part of a name>`: only these faults. `--
 * --kills=<number>`: instead this number of SIGKILLs of any node at random moments under sends, about eleven seconds
 * each.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { messageOf } from '../../runtime/described-error.ts';
import { type Fleet, startFleet } from '../e2e/stack/fleet.ts';
import { seededRandom } from '../testbed/seeded-random.ts';
import { testEnvironment } from '../testbed/test-environment.ts';
import { noRoomForAttachments } from './attachment-faults.ts';
import { openShops } from './chaos-shops.ts';
import { clockAhead, clocksStep, SHIFTED_SERVICE } from './clock-faults.ts';
import { diskEndsRedis, diskFull, noDescriptors } from './exhaustion-faults.ts';
import { failoverKeepsConnections, failoverLosesWrites } from './failover-faults.ts';
import { killOften } from './kills.ts';
import { lineFault } from './link-faults.ts';
import { outOfMemory } from './memory-faults.ts';
import { muteNameServer, namesHang } from './name-faults.ts';
import { anyNodeAnswers, handOver, stopped, takeOver } from './node-faults.ts';
import { type Fault, type Figures, runFault } from './scenario.ts';
import { smallDisk } from './small-disk.ts';
import { storeBusy, storeDown, storeRefuses } from './store-faults.ts';
import { inboundAtOnce, loginsRefused, networkDrops, rateSignals } from './storms.ts';

const { values: asked } = parseArgs({ options: { fault: { type: 'string' }, kills: { type: 'string' } } });
const { seed } = testEnvironment();
const random = seededRandom(seed);
const startedMs = performance.now();
const failures: string[] = [];

const SHOPS = 6;
/** Fewer than half of what a young number may send in an hour. Sends that must be refused for a fault come on top. */
const MESSAGES_PER_SHOP = 4;

/** The name server that all nodes ask for the hosts of attachments. */
const nameServer = await muteNameServer();

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
  storeBusy(3_000),
  clockAhead(10_000),
  namesHang(nameServer),
  noDescriptors(4_000),
  networkDrops,
  loginsRefused(60_000),
  rateSignals,
  inboundAtOnce(2_000),
  // The last one: nothing puts the clocks right.
  clocksStep,
];
const onCluster: readonly Fault[] = [anyNodeAnswers, handOver, takeOver, storeDown(10_000)];

/** The failovers last longer than the lease of 5 s. */
const onPair: readonly Fault[] = [failoverKeepsConnections(8_000), failoverLosesWrites(2_000)];
const onDurablePair: readonly Fault[] = [failoverLosesWrites(2_000, 'replica')];

function say(line: string): void {
  console.log(`${String(Math.round((performance.now() - startedMs) / 1_000)).padStart(4)} s  ${line}`);
}

/** The name that is shown of a fault, and in which `--fault` is searched. */
function nameOf(fault: string, place: string): string {
  return `${fault}, ${place}`;
}

/** Inflicts one fault after the other; two share their shops, since a young number may send only ten an hour. */
async function inflictAll(fleet: Fleet, faults: readonly Fault[], place: string): Promise<Figures[]> {
  const figures: Figures[] = [];
  let shops = await openShops(fleet, SHOPS);
  for (const [index, fault] of faults.entries()) {
    if (index > 0 && index % 2 === 0) shops = await openShops(fleet, SHOPS);
    const name = nameOf(fault.name, place);
    say(`${name} …`);
    try {
      const run = { fleet, random, shops, messagesPerShop: MESSAGES_PER_SHOP, trafficMs: 6_000, timeout: 1 };
      const measured = await runFault(run, { ...fault, name });
      figures.push(measured);
      say(`${name}: well again after ${measured.recoveredMs} ms; ${measured.note}`);
    } catch (error) {
      failures.push(name);
      say(`${name}: FAILED: ${messageOf(error)}`);
      shops = await openShops(fleet, SHOPS);
    }
  }
  return figures;
}

/** Additional settings of nodes and Redis. */
interface Surroundings {
  readonly settings?: Readonly<Record<string, string>>;
  readonly redisDirectory?: string;
}

async function onFleet(
  redis: 'single' | 'cluster' | 'pair',
  all: readonly Fault[],
  place: string,
  { settings = {}, redisDirectory }: Surroundings = {},
) {
  const faults = all.filter(({ name }) => nameOf(name, place).includes(asked.fault ?? ''));
  if (faults.length === 0) return [];
  say(`three nodes on ${place} …`);
  const environment = { MEDIA_NAME_SERVERS: nameServer.address, ...settings };
  const fleet = await startFleet({
    nodes: 3,
    redis,
    environment,
    program: SHIFTED_SERVICE,
    ...(redisDirectory === undefined ? {} : { redisDirectory }),
  });
  try {
    return await inflictAll(fleet, faults, place);
  } finally {
    await fleet.stop();
  }
}

/** Runs the faults that need a file system of a few MiB, or a limit of memory. Only root may make these. */
async function onSmallDisks(): Promise<Figures[]> {
  if (process.getuid?.() !== 0) {
    say(
      'left out, since only root may: a full disk of Redis, a full folder of attachments, a limit of memory',
    );
    return [];
  }
  const [redis, files] = [smallDisk(64), smallDisk(64)];
  try {
    return [
      ...(await onFleet(
        'single',
        [diskEndsRedis(redis, 3_000), diskFull(redis, 3_000)],
        'a Redis on a small disk',
        {
          redisDirectory: join(redis.folder, 'redis'),
        },
      )),
      ...(await onFleet('single', [outOfMemory, noRoomForAttachments(files)], 'nodes with little room', {
        // A message is tried five times, a gap apart: as long as it takes to look at the log.
        settings: { TMPDIR: files.folder, TSX_DISABLE_CACHE: '1', SEND_GAP_MS: '2000-2000' },
      })),
    ];
  } finally {
    for (const disk of [redis, files]) disk.remove();
  }
}

/** The figures as a table of Markdown. */
function table(rows: readonly Figures[]): string {
  const head =
    '| Fault | Well again | Requests | Asked again | Accepted | Sent | Failed BOT_RESTARTED | Lost | Doubled | Forgotten by Redis | Repeated for it | |';
  const lines = rows.map((row) => {
    const {
      fault,
      recoveredMs,
      requests,
      retries,
      accepted,
      sent,
      uncertain,
      lost,
      doubled,
      forgotten,
      repeated,
      note,
    } = row;
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
    return `| ${[...cells, doubled, forgotten, repeated, note].join(' | ')} |`;
  });
  return [head, `|${' --- |'.repeat(12)}`, ...lines].join('\n');
}

/** The kills alone, and what they came to. */
async function onlyKills(kills: number): Promise<void> {
  say(`three nodes on one Redis, ${kills} kills …`);
  const fleet = await startFleet({ nodes: 3, redis: 'single' });
  try {
    const figures = await killOften(fleet, { kills, random, say });
    failures.push(...figures.failures);
    const { accepted, sent, uncertain, lost, doubled, worstMs } = figures;
    console.log(
      '\n| Kills | Accepted | Sent | Failed BOT_RESTARTED | Lost | Doubled | Worst time until all sessions are back |',
    );
    console.log(`|${' --- |'.repeat(7)}`);
    const cells = [kills, accepted, sent, uncertain, lost, doubled, `${(worstMs / 1_000).toFixed(1)} s`];
    console.log(`| ${cells.join(' | ')} |\n`);
  } finally {
    await fleet.stop();
  }
}

async function allFaults(): Promise<void> {
  const rows = [
    ...(await onFleet('single', onOneRedis, 'one Redis')),
    ...(await onFleet('pair', onPair, 'a Redis with a replica')),
    ...(await onFleet('pair', onDurablePair, 'a Redis with a replica', {
      settings: { SEND_DURABILITY: 'replica' },
    })),
    ...(await onSmallDisks()),
    ...(await onFleet('cluster', onCluster, 'a Redis Cluster of three masters')),
  ];
  if (rows.length + failures.length === 0) throw new Error(`no fault's name has "${asked.fault}" in it`);
  console.log(`\n${table(rows)}\n`);
}

say(`seed ${seed}`);
if (asked.kills === undefined) await allFaults();
else await onlyKills(Number(asked.kills));
say(failures.length === 0 ? 'every promise held' : `FAILED: ${failures.join('; ')}`);
process.exit(failures.length === 0 ? 0 : 1);
