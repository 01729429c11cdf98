import { setTimeout as delay } from 'node:timers/promises';
import type { FaultKind } from '../../simulator/control/faults.ts';
import type { Bench, BenchContext, Figures, Run } from '../harness/bench.ts';
import { liveMemory } from '../harness/live-memory.ts';
import { customer, liveShops, onLiveSide, orderText } from '../harness/live-shops.ts';
import type { LiveShop, LiveSide } from '../harness/live-side.ts';
import { load } from '../harness/load.ts';
import { cpuMs, residentMiB } from '../harness/process-usage.ts';
import { keysOf } from '../harness/steady-me.ts';
import { callAll } from '../load/http-calls.ts';
import { inParallel } from '../load/in-parallel.ts';

const ME_PER_SECOND = 100;
/** Calls to the simulator under way at a time. */
const CALLS_AT_ONCE = 64;
/** Interval of checks for the result of a storm. */
const LOOK_MS = 250;
/** After a storm, before memory is read. */
const CALM_MS = 15_000;
/** More logins than there can be while they are refused. */
const EVERY_LOGIN = 1_000_000;

/** A storm. `act` inflicts it and resolves when all is well again, with its own figures. */
interface Storm {
  readonly name: string;
  /** How long `GET /me` is asked from its beginning on. */
  readonly seconds: number;
  act(): Promise<Figures>;
}

/**
 * Storms of the network on all of `--sessions=100` at once. It drops them, and refuses their logins for `--refused=60`
 * seconds. It delivers `--inbound=2000` messages at one moment, and as many once more when their tenants get events of
 * them. It sends each a rate signal.
 *
 * Meanwhile there are 100 `GET /me` a second. `--dropped=0`, `--refused=0`, `--inbound=0` and `--signals=0` leave a
 * storm out. `--pairing=8` shops are paired at a time.
 */
export const storms: Bench = {
  name: 'storms',
  title: `${ME_PER_SECOND} GET /me a second while the network turns on all live sessions at once`,
  isMain: false,
  targets: [],
  async run(context) {
    const runs: Run[] = [];
    const count = context.setting('sessions', 100);
    const { directory, build } = context;
    await onLiveSide({ directory, build, gapMs: '20-60' }, async (side) => {
      context.progress(`storms: pairing ${count}`);
      const shops = await liveShops(side, count, context.setting('pairing', 8));
      const calm = { name: 'none', seconds: context.seconds, act: async (): Promise<Figures> => ({}) };
      for (const storm of [calm, ...stormsOf(side, shops, context)]) {
        context.progress(`storms: ${storm.name}`);
        const figures = await besideMe(side, shops, storm);
        context.progress(`storms: ${storm.name}: ${JSON.stringify(figures)}`);
        runs.push({ side: storm.name, round: 1, figures });
      }
    });
    return runs;
  },
};

function stormsOf(side: LiveSide, shops: readonly LiveShop[], context: BenchContext): Storm[] {
  const refusedSeconds = context.setting('refused', 60);
  const inbound = context.setting('inbound', 2_000);
  const all = (kind: FaultKind, count?: number): Promise<void> =>
    inParallel(shops, CALLS_AT_ONCE, ({ phone }) => side.network.fault(phone, kind, count));
  const storms = [
    {
      name: 'all dropped',
      isWanted: context.setting('dropped', 1) > 0,
      seconds: 20,
      async act() {
        const sinceMs = Date.now();
        await all('drop');
        return backSince(side, shops, sinceMs);
      },
    },
    {
      name: `logins refused for ${refusedSeconds} s`,
      isWanted: refusedSeconds > 0,
      seconds: refusedSeconds + 30,
      async act() {
        await all('login_unavailable', EVERY_LOGIN);
        await delay(refusedSeconds * 1_000);
        const sinceMs = Date.now();
        await all('login_unavailable', 0);
        return backSince(side, shops, sinceMs);
      },
    },
    {
      name: `${inbound} messages arrive`,
      isWanted: inbound > 0,
      seconds: 30,
      act: () => arrive(side, shops, inbound, all),
    },
    {
      // Beside the storm before, `serverCpuMs` shows what records and events of inbound messages cost.
      name: `${inbound} messages arrive, and are published`,
      isWanted: inbound > 0,
      seconds: 30,
      async act() {
        await side.publishInbound(shops);
        return arrive(side, shops, inbound, all);
      },
    },
    {
      name: 'a rate signal for each',
      isWanted: context.setting('signals', 1) > 0,
      seconds: 20,
      act: () => rateSignals(side, shops),
    },
  ];
  return storms.filter(({ isWanted }) => isWanted);
}

/**
 * Measures `GET /me` from the beginning of a storm on, and memory before it, at most, and after. Another process calls,
 * because this one acts on all sessions at once.
 */
async function besideMe(side: LiveSide, shops: readonly LiveShop[], storm: Storm): Promise<Figures> {
  const { server } = side.watch;
  const before = { mib: residentMiB(server), cpuMs: cpuMs(server) };
  const rate = { seconds: storm.seconds, warmupMs: 0, connections: 16, ratePerSecond: ME_PER_SECOND };
  const [me, figures] = await Promise.all([
    load({ ports: [side.apiPort], watch: side.watch }, { kind: 'me', keys: keysOf(shops) }, rate),
    storm.act(),
  ]);
  const usedMs = cpuMs(server) - before.cpuMs;
  await delay(CALM_MS);
  return {
    meP50Ms: me.latencyMs.p50,
    meP99Ms: me.latencyMs.p99,
    meMostMs: me.latencyMs.max,
    meNotAnswered2xx: Object.entries(me.byStatus).reduce(
      (sum, [status, count]) => sum + (status.startsWith('2') ? 0 : count),
      0,
    ),
    ...figures,
    serverCpuMs: usedMs,
    beforeMiB: before.mib,
    mostMiB: me.mostResidentMiB,
    ...(await liveMemory(side)),
  };
}

/**
 * Waits until each shop has a session that began after `sinceMs`. Returns when the first and the last came back, and
 * how many came at once.
 */
async function backSince(side: LiveSide, shops: readonly LiveShop[], sinceMs: number): Promise<Figures> {
  for (;;) {
    await delay(LOOK_MS);
    const { items } = await side.network.sessions({ limit: 10_000 });
    const backMs = items
      .map(({ since }) => Date.parse(since ?? '') - sinceMs)
      .filter((ms) => ms >= 0)
      .sort((one, other) => one - other);
    if (backMs.length < shops.length) continue;
    const inOneTenth = backMs.map((ms) => backMs.filter((other) => other >= ms && other < ms + 100).length);
    return {
      firstBackMs: backMs[0] ?? 0,
      lastBackMs: backMs.at(-1) ?? 0,
      mostBackIn100Ms: Math.max(...inOneTenth),
    };
  }
}

/** Writes messages to stalled sessions, and then lets them receive all of these at the same moment. */
async function arrive(
  side: LiveSide,
  shops: readonly LiveShop[],
  count: number,
  all: (kind: FaultKind) => Promise<void>,
): Promise<Figures> {
  const received = async (): Promise<number> =>
    (await side.metrics()).get('msgapi_session_received_total') ?? 0;
  const before = await received();
  await all('deaf');
  const turns = Array.from({ length: count }, (_, turn) => turn);
  await inParallel(turns, CALLS_AT_ONCE, (turn) => {
    const { phone } = shops[turn % shops.length] as LiveShop;
    const from = customer(Math.floor(turn / shops.length));
    return side.network.write(from, { to: phone, text: `Question ${turn}`, wait: false });
  });
  const startedMs = performance.now();
  await all('hears');
  while ((await received()) - before < count) await delay(LOOK_MS);
  return { takenMs: performance.now() - startedMs, receivedTwice: (await received()) - before - count };
}

/** Lets each shop's next message meet a rate signal. The shop then pauses, and keeps the message. */
async function rateSignals(side: LiveSide, shops: readonly LiveShop[]): Promise<Figures> {
  await inParallel(shops, CALLS_AT_ONCE, ({ phone }) => side.network.ackErrors(phone, 429));
  const startedMs = performance.now();
  await callAll(
    side.apiPort,
    shops.map((_, turn) => orderText(shops, turn)),
    { connections: 16 },
  );
  const paused = async (): Promise<number> =>
    (await side.metrics()).get('msgapi_shops_in_trouble{trouble="paused"}') ?? 0;
  while ((await paused()) < shops.length) await delay(LOOK_MS);
  return { allPausedMs: performance.now() - startedMs };
}
