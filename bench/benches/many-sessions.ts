import { setTimeout as delay } from 'node:timers/promises';
import { MINUTE_MS } from '../../runtime/durations.ts';
import { type Bench, type BenchContext, EndedEarly, type Figures, type Run } from '../harness/bench.ts';
import { customers, onLiveSide, unlinkedShops } from '../harness/live-shops.ts';
import type { LiveShop, LiveSide } from '../harness/live-side.ts';
import { load } from '../harness/load.ts';
import { CONNECTED, cpuOf, cpuSince, endsOf, usage } from '../harness/many-figures.ts';
import type { PairingPlan } from '../harness/pairing.ts';
import { residentMiB } from '../harness/process-usage.ts';
import { startSteadyMe, takeMeFigures } from '../harness/steady-me.ts';
import type { LoadResult } from '../load/load-plan.ts';

const ME_PER_SECOND = 100;
/** Interval of progress checks; each makes the service read its metrics. */
const LOOK_MS = 500;
/** After all are back, before CPU at rest is measured. */
const SETTLE_MS = 10_000;
/** By then the last writes of a pairing are done, after its shop is connected. */
const LAST_WRITES_MS = 2_000;
/** How long all sessions may take to come back, and the interval of the progress lines meanwhile. */
const BACK_WITHIN_MS = 20 * MINUTE_MS;
const PROGRESS_MS = 30_000;
/** How long those messages may take that are still on their way when the last minute is over. */
const TAIL_MS = MINUTE_MS;

const ACKNOWLEDGED = 'msgapi_session_outcomes_total{outcome="acknowledged",code=""}';

/**
 * Measures one node with `--sessions=5000`, paired `--pairing=16` at a time, in `--workers=` threads. Without that
 * setting the service decides. The node is killed, its sessions come back, and it rests for `--rest=30` seconds. Then
 * each shop sends `--each-minute=1` message, evenly, for `--minutes=10`. 100 `GET /me` a second run except at rest.
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
    const workers = context.setting('workers', 0);
    const environment = workers === 0 ? {} : { SESSION_WORKERS: String(workers) };
    const progress = (text: string): void => context.progress(`many-sessions: ${count}, ${text}`);
    let phase = 'starting';
    const add = async (what: string, measure: () => Promise<Figures>): Promise<void> => {
      phase = what;
      const figures = await measure();
      runs.push({ side: `${count} sessions, ${what}`, round: 1, figures });
      progress(`${what}: ${JSON.stringify(figures)}`);
    };
    try {
      await onLiveSide({ directory, build, gapMs: '20-60', program, environment }, async (side) => {
        let shops: readonly LiveShop[] = [];
        await add('made', async () => {
          const startedMs = performance.now();
          shops = await unlinkedShops(side, count);
          return { makeAllMs: performance.now() - startedMs };
        });
        try {
          const atOnce = context.setting('pairing', 16);
          const paired = (text: string): void =>
            progress(`${text}, ${residentMiB(side.watch.server).toFixed(0)} MiB`);
          await add('paired', () => allPaired(side, shops, { atOnce, progress: paired }));
          await delay(LAST_WRITES_MS);
          await add('back', () => allBack(side, shops, progress));
          await add('at rest', () => atRest(side, context.setting('rest', 30)));
          if (minutes > 0) await add('sending', () => sending(side, shops, context, minutes));
        } catch (error) {
          progress(`failed: ${error}`);
          progress(side.nodes.map((node) => node.lastLog()).join('\n'));
          const failed = phase;
          const atEnd = async (): Promise<Figures> => ({ ...(await endsOf(side)), ...(await usage(side)) });
          await add(`${failed}, at the failure`, atEnd).catch((cause) =>
            progress(`no last figures: ${cause}`),
          );
          throw new EndedEarly(`step "${failed}"`, runs, error);
        }
      });
    } catch (error) {
      throw error instanceof EndedEarly ? error : new EndedEarly(`step "${phase}"`, runs, error);
    }
    return runs;
  },
};

/** Pairs all. The CPU time includes that of the phones' side, and of this process. */
async function allPaired(side: LiveSide, shops: readonly LiveShop[], plan: PairingPlan): Promise<Figures> {
  const cpuBefore = cpuOf(side);
  const ownBefore = process.cpuUsage();
  await side.connect(shops, plan);
  const pairAllMs = performance.now() - cpuBefore.atMs;
  const { user, system } = process.cpuUsage(ownBefore);
  return {
    pairAllMs,
    pairedPerSecond: (shops.length * 1_000) / pairAllMs,
    ...cpuSince(side, cpuBefore),
    benchCpuPercent: (user + system) / 10 / pairAllMs,
    ...(await usage(side)),
  };
}

/** Kills the node and waits until all have their session again. */
async function allBack(
  side: LiveSide,
  shops: readonly LiveShop[],
  progress: (text: string) => void,
): Promise<Figures> {
  const startedMs = performance.now();
  const readyMs = await side.restart();
  const cpuBefore = cpuOf(side);
  const beside = await besideMe(side, shops, async () => {
    let firstBackMs: number | undefined;
    let toldMs = startedMs;
    for (;;) {
      const connected = (await side.metrics()).get(CONNECTED) ?? 0;
      const nowMs = performance.now();
      if (nowMs - toldMs > PROGRESS_MS) {
        progress(`${connected} of ${shops.length} back after ${((nowMs - startedMs) / 1_000).toFixed(0)} s`);
        toldMs = nowMs;
      }
      if (nowMs - startedMs > BACK_WITHIN_MS)
        throw new Error(`only ${connected} of ${shops.length} sessions came back`);
      if (connected > 0) firstBackMs ??= performance.now() - startedMs;
      if (connected >= shops.length)
        return { firstBackMs: firstBackMs ?? 0, allBackMs: performance.now() - startedMs };
      await delay(LOOK_MS);
    }
  });
  return {
    readyMs,
    ...beside,
    ...cpuSince(side, cpuBefore),
    ...(await endsOf(side)),
    ...(await usage(side)),
  };
}

/** Measures CPU with nothing to do. */
async function atRest(side: LiveSide, seconds: number): Promise<Figures> {
  await delay(seconds > 1 ? SETTLE_MS : 0);
  const cpuBefore = cpuOf(side);
  await delay(seconds * 1_000);
  return { ...cpuSince(side, cpuBefore), ...(await endsOf(side)), ...(await usage(side)) };
}

/** Sends a number of messages of each shop a minute. They count as acknowledged by the end of the tail. */
async function sending(
  side: LiveSide,
  shops: readonly LiveShop[],
  context: BenchContext,
  minutes: number,
): Promise<Figures> {
  const ratePerSecond = (shops.length * context.setting('each-minute', 1)) / 60;
  const cpuBefore = cpuOf(side);
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
  const beside = await besideMe(side, shops, async () => {
    const sends = await send();
    const used = cpuSince(side, cpuBefore);
    const atEnd = (await acknowledged()) - acknowledgedBefore;
    const tailMs = performance.now() + TAIL_MS;
    while ((await acknowledged()) - acknowledgedBefore < sends.made && performance.now() < tailMs)
      await delay(LOOK_MS);
    figures = {
      accepted: sends.byStatus[202] ?? 0,
      notAccepted: sends.requests - (sends.byStatus[202] ?? 0),
      ...notAccepted(sends),
      acceptP99Ms: sends.latencyMs.p99,
      acknowledgedAtEnd: atEnd,
      acknowledged: (await acknowledged()) - acknowledgedBefore,
      ...used,
    };
    return {};
  });
  return { ...figures, ...beside, ...(await endsOf(side)), ...(await usage(side)) };
}

/** Returns the calls that were not accepted, by status. */
const notAccepted = ({ byStatus }: LoadResult): Figures =>
  Object.fromEntries(
    Object.entries(byStatus)
      .filter(([status]) => status !== '202')
      .map(([status, count]) => [`answered ${status}`, count]),
  );

/** Measures `GET /me`, and the most memory of the service, while something happens. */
async function besideMe(
  side: LiveSide,
  shops: readonly LiveShop[],
  act: () => Promise<Figures>,
): Promise<Figures> {
  const me = await startSteadyMe(side, shops, ME_PER_SECOND);
  let mostMiB = 0;
  const looking = setInterval(() => {
    mostMiB = Math.max(mostMiB, residentMiB(side.watch.server));
  }, LOOK_MS);
  try {
    const figures = await act();
    return { ...figures, ...takeMeFigures(me), mostMiB };
  } finally {
    clearInterval(looking);
    me.stop();
  }
}
