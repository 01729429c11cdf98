import { readdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Bench, BenchContext, Figures, Run } from '../harness/bench.ts';
import { type LiveCpu, liveCpu } from '../harness/live-cpu.ts';
import { liveMemory } from '../harness/live-memory.ts';
import type { LiveShop, LiveSide } from '../harness/live-side.ts';
import { load } from '../harness/load.ts';
import { residentMiB } from '../harness/process-usage.ts';
import type { LoadResult } from '../load/load-plan.ts';
import { requestBytes } from '../load/request-bytes.ts';
import { SteadyCalls } from '../load/steady-calls.ts';
import { customers, liveShops, onLiveSide } from './live-shops.ts';

const ME_PER_SECOND = 100;
/** Interval of progress checks; each makes the service read its metrics. */
const LOOK_MS = 500;
/** After all are back, before CPU at rest is measured. */
const SETTLE_MS = 10_000;
/** By then the last writes of a pairing are done, after its shop is connected. */
const LAST_WRITES_MS = 2_000;
/** How long those messages may take that are still on their way when the last minute is over. */
const TAIL_MS = 60_000;

const CONNECTED = 'msgapi_sessions{state="connected"}';
const ACKNOWLEDGED = 'msgapi_session_outcomes_total{outcome="acknowledged",code=""}';

/**
 * Measures one node with `--sessions=5000`, paired `--pairing=64` at a time. It is killed, its sessions come back, and
 * it rests for `--rest=30` seconds. Then each shop sends `--each-minute=1` message, evenly, for `--minutes=10`. 100
 * `GET /me` a second run except at rest.
 */
export const manySessions: Bench = {
  name: 'many-sessions',
  title: `Many live sessions of the real client on one node, and ${ME_PER_SECOND} GET /me a second beside them`,
  isMain: false,
  targets: [],
  async run(context) {
    const runs: Run[] = [];
    const count = context.setting('sessions', 5_000);
    const minutes = context.setting('minutes', 10);
    const program = ['bench/sides/paced-service.js'] as const;
    const { directory, build } = context;
    const add = (what: string, figures: Figures): void => {
      runs.push({ side: `${count} sessions, ${what}`, round: 1, figures });
      context.progress(`many-sessions: ${count}, ${what}: ${JSON.stringify(figures)}`);
    };
    await onLiveSide({ directory, build, gapMs: '20-60', program }, async (side) => {
      context.progress(`many-sessions: pairing ${count}`);
      const pairingMs = performance.now();
      const shops = await liveShops(side, count, context.setting('pairing', 64));
      const pairAllMs = performance.now() - pairingMs;
      add('paired', { pairAllMs, ...(await usage(side)) });
      await delay(LAST_WRITES_MS);
      add('back', await allBack(side, shops));
      add('at rest', await atRest(side, context.setting('rest', 30)));
      if (minutes > 0) add('sending', await sending(side, shops, context, minutes));
    });
    return runs;
  },
};

/** Kills the node and waits until all have their session again. */
async function allBack(side: LiveSide, shops: readonly LiveShop[]): Promise<Figures> {
  const startedMs = performance.now();
  const readyMs = await side.restart();
  const before = cpuOf(side);
  const felt = await feltUntil(side, shops, async () => {
    let firstBackMs: number | undefined;
    for (;;) {
      const connected = (await side.metrics()).get(CONNECTED) ?? 0;
      if (connected > 0) firstBackMs ??= performance.now() - startedMs;
      if (connected >= shops.length)
        return { firstBackMs: firstBackMs ?? 0, allBackMs: performance.now() - startedMs };
      await delay(LOOK_MS);
    }
  });
  return { readyMs, ...felt, ...cpuSince(side, before), ...(await endsOf(side)), ...(await usage(side)) };
}

/** CPU with nothing to do. */
async function atRest(side: LiveSide, seconds: number): Promise<Figures> {
  await delay(seconds > 1 ? SETTLE_MS : 0);
  const before = cpuOf(side);
  await delay(seconds * 1_000);
  return { ...cpuSince(side, before), ...(await endsOf(side)), ...(await usage(side)) };
}

/** Sends a number of messages of each shop a minute. They count as acknowledged by the end of the tail. */
async function sending(
  side: LiveSide,
  shops: readonly LiveShop[],
  context: BenchContext,
  minutes: number,
): Promise<Figures> {
  const ratePerSecond = (shops.length * context.setting('each-minute', 1)) / 60;
  const before = cpuOf(side);
  const acknowledged = async (): Promise<number> => (await side.metrics()).get(ACKNOWLEDGED) ?? 0;
  const acknowledgedBefore = await acknowledged();
  const send = (): Promise<LoadResult> =>
    load(
      { ports: [side.apiPort], watch: side.watch },
      { kind: 'send', shops, recipients: customers(), from: 0, isUnbounded: false },
      {
        seconds: minutes * 60,
        warmupMs: 0,
        connections: Math.min(16, Math.ceil(ratePerSecond)),
        ratePerSecond,
      },
    );
  let figures: Figures = {};
  const felt = await feltUntil(side, shops, async () => {
    const sends = await send();
    const used = cpuSince(side, before);
    const atEnd = (await acknowledged()) - acknowledgedBefore;
    const tailMs = performance.now() + TAIL_MS;
    while ((await acknowledged()) - acknowledgedBefore < sends.made && performance.now() < tailMs)
      await delay(LOOK_MS);
    figures = {
      accepted: sends.byStatus[202] ?? 0,
      notAccepted: sends.requests - (sends.byStatus[202] ?? 0),
      acceptP99Ms: sends.latencyMs.p99,
      acknowledgedAtEnd: atEnd,
      acknowledged: (await acknowledged()) - acknowledgedBefore,
      ...used,
    };
    return {};
  });
  return { ...figures, ...felt, ...(await endsOf(side)), ...(await usage(side)) };
}

/** Measures `GET /me`, and the most memory of the service, while something happens. */
async function feltUntil(
  side: LiveSide,
  shops: readonly LiveShop[],
  act: () => Promise<Figures>,
): Promise<Figures> {
  const keys = [...new Set(shops.map(({ key }) => key))];
  const requests = keys.map((token) =>
    Buffer.from(requestBytes({ method: 'GET', path: '/api/v1/me', token }), 'latin1'),
  );
  const calls = await SteadyCalls.start({ port: side.apiPort, requests, perSecond: ME_PER_SECOND });
  let mostMiB = 0;
  const looking = setInterval(() => {
    mostMiB = Math.max(mostMiB, residentMiB(side.watch.server));
  }, LOOK_MS);
  try {
    const figures = await act();
    const { p50Ms, p99Ms, mostMs, notAnswered2xx } = calls.take();
    return {
      ...figures,
      meP50Ms: p50Ms,
      meP99Ms: p99Ms,
      meMostMs: mostMs,
      meNotAnswered2xx: notAnswered2xx,
      mostMiB,
    };
  } finally {
    clearInterval(looking);
    calls.stop();
  }
}

interface Cpu extends LiveCpu {
  readonly atMs: number;
}

const cpuOf = (side: LiveSide): Cpu => ({ atMs: performance.now(), ...liveCpu(side) });

/** CPU since then, in percent of a core; `Other` is V8's collectors and compilers in the service. */
function cpuSince(side: LiveSide, before: Cpu): Figures {
  const now = cpuOf(side);
  const percent = (ms: number): number => (ms * 100) / (now.atMs - before.atMs);
  const [server, main, workers] = [
    now.server - before.server,
    now.main - before.main,
    now.workers - before.workers,
  ];
  return {
    cpuPercent: percent(server),
    mainCpuPercent: percent(main),
    workerCpuPercent: percent(workers),
    otherCpuPercent: percent(server - main - workers),
    simulatorCpuPercent: percent(now.simulator - before.simulator),
    redisCpuPercent: percent(now.redis - before.redis),
  };
}

/** Returns how often sessions ended since the service started; none should. */
async function endsOf(side: LiveSide): Promise<Figures> {
  const metrics = await side.metrics();
  const ends = [...metrics].filter(([name]) => name.startsWith('msgapi_session_ends_total'));
  return {
    ends: ends.reduce((sum, [, value]) => sum + value, 0),
    workersLost: metrics.get('msgapi_session_workers_lost_total') ?? 0,
    connected: metrics.get(CONNECTED) ?? 0,
  };
}

async function usage(side: LiveSide): Promise<Figures> {
  const { server, simulator } = side.watch;
  return {
    ...(await liveMemory(side)),
    descriptors: descriptorsOf(server),
    simulatorDescriptors: descriptorsOf(simulator),
  };
}

const descriptorsOf = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;
