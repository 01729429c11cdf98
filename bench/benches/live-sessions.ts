import { setTimeout as delay } from 'node:timers/promises';
import { type Bench, type BenchContext, type Figures, figuresOf, type Run } from '../harness/bench.ts';
import { type LiveCpu, liveCpu } from '../harness/live-cpu.ts';
import { liveMemory } from '../harness/live-memory.ts';
import type { LiveProgram } from '../harness/live-node.ts';
import { liveShops, onLiveSide } from '../harness/live-shops.ts';
import type { LiveShop, LiveSide } from '../harness/live-side.ts';
import { load, sendRequests } from '../harness/load.ts';
import { type Pace, repliesOf, throughTheWire } from '../harness/through-the-wire.ts';
import { sendingFleet } from './compared.ts';

/**
 * The wait before memory and CPU at rest are measured, in seconds. Until then V8 collects the garbage of the start: one
 * to three times, 0.2 to 0.4 s of CPU each.
 */
const SETTLE_SECONDS = 90;

/** Half of the messages that a warm shop may send within an hour: each recipient gets two. */
const MOST_MESSAGES_EACH = 20;

/** The options of a run. */
interface Plan {
  readonly count: number;
  readonly pace: Pace;
  readonly settleSeconds: number;
  readonly restSeconds: number;
  readonly pairedAtOnce: number;
  readonly each: number;
  readonly environment: NodeJS.ProcessEnv;
}

function planOf(context: BenchContext, count: number): Plan {
  const least = context.setting('gap', 20);
  const composing = context.setting('composing', Number.NaN);
  const workers = context.setting('workers', 0);
  return {
    count,
    pace: {
      gapMs: { least, most: 3 * least },
      composingMs: Number.isNaN(composing) ? undefined : composing,
    },
    settleSeconds: context.setting('settle', SETTLE_SECONDS),
    restSeconds: context.setting('rest', 60),
    pairedAtOnce: context.setting('pairing', 8),
    each: Math.min(MOST_MESSAGES_EACH, context.setting('messages', 3)),
    environment: workers === 0 ? {} : { SESSION_WORKERS: String(workers) },
  };
}

/** Takes all measurements for one number of sessions. */
async function measured(context: BenchContext, plan: Plan): Promise<Run[]> {
  const { count, pace, pairedAtOnce, each, environment } = plan;
  const runs: Run[] = [];
  const step = (text: string): void => context.progress(`sessions: ${count}, ${text}`);
  const add = (phase: string, figures: Figures): void => {
    runs.push({ side: `${count} sessions, ${phase}`, round: 1, figures });
    step(`${phase}: ${JSON.stringify(figures)}`);
  };
  const paced: LiveProgram = [
    'bench/sides/paced-service.js',
    ...(pace.composingMs === undefined ? [] : [`--composing-ms=${pace.composingMs}`]),
  ];
  const options = {
    directory: context.directory,
    build: context.build,
    gapMs: `${pace.gapMs.least}-${pace.gapMs.most}`,
    environment,
    program: paced,
  };
  await onLiveSide(options, async (side) => {
    step('pairing');
    const pairedMs = performance.now();
    const shops = await liveShops(side, count, pairedAtOnce);
    const pairAllMs = performance.now() - pairedMs;
    step('restart');
    const restartedMs = performance.now();
    const readyMs = await side.restart();
    await side.untilConnected(count);
    const reconnectAllMs = performance.now() - restartedMs;
    add('at rest', { pairAllMs, readyMs, reconnectAllMs, ...(await atRest(side, plan)) });
    if (each > 0) {
      step('first contacts');
      add('first contacts', await throughTheWire(side, { shops, each, pace }));
      if (pace.composingMs !== undefined) {
        step('replies');
        add('replies', await repliesOf(side, shops, each));
        step('known chats');
        add('known chats', await throughTheWire(side, { shops, each, pace, word: ' Still.' }));
      } else {
        // V8 compiles the code of the first thousand messages; a service has long done that.
        const further = { shops, each, pace, from: each * count };
        add('further first contacts', await throughTheWire(side, further));
      }
      add('after sending', await liveMemory(side));
    }
    if (context.setting('beside', 1) === 0) return;
    step('load beside them');
    add('beside them', await acceptedBeside(side, shops, context.seconds));
  });
  return runs;
}

/** Measures CPU by thread over `restSeconds` without anything to do, and memory then. With 0 seconds: memory alone. */
async function atRest(
  side: LiveSide,
  { settleSeconds, restSeconds }: Pick<Plan, 'settleSeconds' | 'restSeconds'>,
): Promise<Figures> {
  if (restSeconds === 0) return liveMemory(side);
  await delay(settleSeconds * 1_000);
  const cpuBefore = liveCpu(side);
  await delay(restSeconds * 1_000);
  const after = liveCpu(side);
  const percent = (thread: keyof LiveCpu): number => (after[thread] - cpuBefore[thread]) / (restSeconds * 10);
  return {
    restCpuPercent: percent('server'),
    restMainCpuPercent: percent('main'),
    restWorkerCpuPercent: percent('workers'),
    restSimulatorCpuPercent: percent('simulator'),
    ...(await liveMemory(side)),
  };
}

/** Measures the sends that the service accepts for other shops while these are connected. */
async function acceptedBeside(side: LiveSide, shops: readonly LiveShop[], seconds: number): Promise<Figures> {
  const liveTenants = [...new Set(shops.map(({ tenantId }) => tenantId))];
  await side.restart(['bench/sides/mixed-service.js', ...liveTenants]);
  await side.untilConnected(shops.length);
  const fleet = await side.makeFleet(sendingFleet(seconds + 3, true));
  const { watch } = side;
  const result = await load({ ports: [side.apiPort], watch }, sendRequests({ fleet, watch }), { seconds });
  const { perSecond = 0, p50Ms = 0, p99Ms = 0, serverCpuUs = 0 } = figuresOf(result);
  return { perSecond, p50Ms, p99Ms, serverCpuUs };
}

/**
 * Measures the cost of live sessions, from `--from=1` to `--sessions=500`, paired `--pairing=8` at a time. The sessions
 * rest for `--rest=60` seconds, beginning `--settle=90` seconds after all are back. Then each shop sends `--messages=3`
 * messages with `--gap=20` to three times as many milliseconds between them. It composes as in production. Then as many
 * messages go to other recipients. With `--composing=0` all recipients reply at once instead, and get one more message.
 * `--workers=1` sets the workers. `--beside=0` turns the load beside off.
 */
export const liveSessions: Bench = {
  name: 'sessions',
  title:
    'Live sessions of the real client against the simulator, and sends accepted for other shops beside them',
  isMain: false,
  targets: [],
  async run(context) {
    const runs: Run[] = [];
    const largest = context.setting('sessions', 500);
    const smallest = context.setting('from', 1);
    const counts = new Set([1, 100, 500, largest]);
    for (const count of [...counts].filter((size) => size <= largest && size >= smallest))
      runs.push(...(await measured(context, planOf(context, count))));
    return runs;
  },
};
