import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Bench, BenchContext, Run } from '../harness/bench.ts';
import type { Fleet, FleetSize } from '../harness/fleet.ts';
import { startReaders } from '../harness/load.ts';
import { metricsOf } from '../harness/metrics.ts';
import { cpuMs, loadAverage, residentMiB } from '../harness/process-usage.ts';
import type { RunningSide } from '../harness/running-side.ts';
import { startSide } from '../harness/side.ts';
import {
  type CallLatencies,
  figuresOfCalls,
  LEAD_MS,
  ME_PER_SECOND,
  SENDS_PER_SECOND,
  wellBehaved,
} from '../harness/well-behaved.ts';
import type { ReadersResult } from '../load/readers-plan.ts';
import { fleetFor } from './compared.ts';

/** A quarter of the calls of a tenant that may wait on a node (`actors/tenants/stored-events/event-waiters.ts`). */
const READERS_PER_TENANT = 64;
/** Readers of the first load; the second is all of them. */
const SOME_READERS = 1_000;
const SHOPS_PER_TENANT = 4;
/** Files that a process needs in addition to the connections of readers: other connections, Redis, files. */
const OTHER_FILES = 1_000;
/** The client package's own: how long a call waits, and the shortest time from one to the next. */
const WAIT_MS = 15_000;
const GAP_MS = 3_000;
const RECOVERY_MS = 5_000;
const PHASES = 4;

/**
 * Measures the effect of many readers of `GET /events` on tenants that read none: p99 of `GET /me` and of sends, on
 * schedule. First alone, then beside a thousand readers, beside `--readers`, and once they are gone. With `--stream=1`
 * they read open replies. `beforeMiB` is the service's memory before they come, `withMiB` after `--rest` seconds of
 * them alone. `kibPerReader` is the difference. `serverCpuPercent` is the service's share of its core while all of them
 * wait alone.
 */
export const waitingReaders: Bench = {
  name: 'readers',
  title: `${ME_PER_SECOND} GET /me and ${SENDS_PER_SECOND} sends a second, beside readers of GET /events`,
  isMain: false,
  targets: [],
  async run(context) {
    const readers = Math.min(context.setting('readers', 10_000), mostReaders());
    context.progress(`readers: ${mostReaders()} fit into this machine's limits, ${readers} come`);
    const size = sizeFor(readers, context.seconds);
    const runs: Run[] = [];
    for (let round = 1; round <= context.rounds; round += 1) {
      const side = await startSide('service', {
        directory: context.directory,
        build: context.build,
        fleet: size,
        appendfsync: 'everysec',
        progress: (text) => context.progress(`readers: round ${round}, ${text}`),
      });
      try {
        runs.push(...(await measured(side, readers, round, context)));
      } finally {
        await side.stop();
      }
    }
    return runs;
  },
};

/** The most connections that a process here may have, by open files and by ports of one address. */
function mostReaders(): number {
  const files = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
  const range = readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').trim().split(/\s+/);
  const ports = Number(range[1]) - Number(range[0]);
  return Math.min(files === undefined ? Number.POSITIVE_INFINITY : Number(files), ports) - OTHER_FILES;
}

/** Returns the tenants of the readers, and those that send beside them. */
function sizeFor(readers: number, seconds: number): FleetSize {
  const messages = SENDS_PER_SECOND * (seconds + LEAD_MS / 1_000) * PHASES;
  const sending = fleetFor({ messages, isPaused: true });
  const shops = sending.tenants * sending.shopsPerTenant;
  const tenants = tenantsOf(readers) + Math.ceil(shops / SHOPS_PER_TENANT);
  return { ...sending, tenants, shopsPerTenant: SHOPS_PER_TENANT };
}

function tenantsOf(readers: number): number {
  return Math.ceil(readers / READERS_PER_TENANT);
}

/** The effect of readers on the service before any other call. */
interface Settled {
  readonly waiting: number;
  readonly serverCpuPercent: number;
  readonly withMiB: number;
}

async function measured(
  side: RunningSide,
  readers: number,
  round: number,
  context: BenchContext,
): Promise<readonly Run[]> {
  const ofReaders = tenantsOf(readers);
  const readerKeys = side.fleet.keys.slice(0, ofReaders).map(({ key }) => key);
  const good = side.fleet.keys.slice(ofReaders);
  const goodTenants = new Set(good.map(({ tenantId }) => tenantId));
  const otherFleet: Fleet = {
    ...side.fleet,
    keys: good,
    shops: side.fleet.shops.filter(({ tenantId }) => goodTenants.has(tenantId)),
  };
  const server = side.watch.server ?? process.pid;
  const few = Math.min(readers, SOME_READERS);
  const phases = [
    { name: 'alone', count: 0 },
    { name: `${few} readers`, count: few },
    ...(readers > few ? [{ name: `${readers} readers`, count: readers }] : []),
    { name: 'afterwards', count: 0 },
  ];
  const runs: Run[] = [];
  let alone: CallLatencies | undefined;
  let made = 0;
  for (const { name, count } of phases) {
    context.progress(`readers: round ${round}, ${name}`);
    if (runs.length > 0) await delay(RECOVERY_MS);
    const beforeMiB = residentMiB(server);
    const { reading, settled } = await readersCome(side, { readerKeys, count }, context);
    const felt = await wellBehaved(side, otherFleet, { seconds: context.seconds, from: made });
    made = felt.send.made;
    const met = await reading;
    alone ??= felt;
    const { withMiB, waiting, serverCpuPercent } = settled;
    const kibPerReader = count === 0 ? 0 : ((withMiB - beforeMiB) * 1_024) / count;
    const figures = {
      waiting,
      beforeMiB,
      withMiB,
      kibPerReader,
      serverCpuPercent,
      ...figuresOfCalls(felt, alone, server),
      readerAnswers: met.answers,
      readerRefusals: met.refusals,
      readersEnded: met.ended,
      readersCpuMs: met.cpuMs,
      loadAverage: loadAverage(),
    };
    runs.push({ side: name, round, figures });
  }
  return runs;
}

/** Starts readers, each tenant's as many as the next one's, and gives them time to settle. */
async function readersCome(
  side: RunningSide,
  { readerKeys, count }: { readonly readerKeys: readonly string[]; readonly count: number },
  context: BenchContext,
): Promise<{ readonly reading: Promise<ReadersResult>; readonly settled: Settled }> {
  const restMs = context.setting('rest', 15) * 1_000;
  const keys = Array.from({ length: count }, (_, index) => readerKeys[index % readerKeys.length] ?? '');
  const durationMs = restMs + LEAD_MS + context.seconds * 1_000 + 1_000;
  const [port = 0] = side.ports;
  const isStream = context.setting('stream', 0) > 0;
  const plan = { port, isStream, keys, waitMs: WAIT_MS, gapMs: GAP_MS, arriveMs: restMs / 2, durationMs };
  const none = { answers: 0, refusals: 0, ended: 0, cpuMs: 0 };
  const reading = count === 0 ? Promise.resolve(none) : startReaders(plan);
  // The promise is awaited only after the load. Until then its rejection must not end the process.
  reading.catch(() => undefined);
  const server = side.watch.server ?? process.pid;
  if (count > 0) await delay(restMs / 2);
  const halfMs = cpuMs(server);
  if (count > 0) await delay(restMs / 2);
  const serverCpuPercent = count === 0 ? 0 : ((cpuMs(server) - halfMs) / (restMs / 2)) * 100;
  if (side.admin === undefined) throw new Error('the service has no operators');
  const waiting = (await metricsOf(side.admin)).get('msgapi_event_waits') ?? 0;
  return { reading, settled: { waiting, serverCpuPercent, withMiB: residentMiB(server) } };
}
