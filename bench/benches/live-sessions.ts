import { setTimeout as delay } from 'node:timers/promises';
import { type Bench, type BenchContext, type Figures, figuresOf, type Run } from '../harness/bench.ts';
import { type LiveShop, type LiveSide, startLiveSide } from '../harness/live-side.ts';
import { cpuMs, residentMiB } from '../harness/process-usage.ts';
import { type Call, callAll } from '../load/http-calls.ts';
import { sendingFleet } from './compared.ts';
import { load, sendRequests } from './loads.ts';

const SHOPS_PER_TENANT = 10;
const CUSTOMERS = 200;
/** The wait after the last change before memory and CPU at rest are measured, in milliseconds. */
const SETTLE_MS = 10_000;

/** So many shops, linked and connected; their customers are known recipients. */
export async function liveShops(side: LiveSide, count: number): Promise<readonly LiveShop[]> {
  const fleet = await side.makeFleet({
    tenants: Math.ceil(count / SHOPS_PER_TENANT),
    shopsPerTenant: Math.min(count, SHOPS_PER_TENANT),
    customers: CUSTOMERS,
    connected: false,
    held: false,
  });
  const shops = fleet.shops
    .slice(0, count)
    .map((shop, index) => ({ ...shop, phone: `+3361${String(index).padStart(7, '0')}` }));
  await side.connect(shops);
  return shops;
}

/** Runs `measure` on a side of its own and stops it, whatever came of it. */
export async function onLiveSide(
  options: Parameters<typeof startLiveSide>[0],
  measure: (side: LiveSide) => Promise<void>,
): Promise<void> {
  const side = await startLiveSide(options);
  try {
    await measure(side);
  } finally {
    await side.stop();
  }
}

/** Heap of the main thread and of all workers. */
export async function heaps(side: LiveSide): Promise<Figures> {
  const metrics = await side.metrics();
  const workers = [...metrics].filter(([name]) => name.startsWith('msgapi_session_worker_heap_bytes'));
  const bytes = workers.reduce((sum, [, value]) => sum + value, 0);
  return {
    mainHeapMiB: (metrics.get('nodejs_heap_size_used_bytes') ?? 0) / 2 ** 20,
    workerHeapMiB: bytes / 2 ** 20,
  };
}

/** How long a message takes through every shop at once, from the first request until the last acknowledgement. */
async function throughTheWire(side: LiveSide, shops: readonly LiveShop[], each: number): Promise<number> {
  const sent = async (): Promise<number> =>
    (await side.metrics()).get('msgapi_session_outcomes_total{outcome="acknowledged",code=""}') ?? 0;
  const before = await sent();
  const startedMs = performance.now();
  const calls = Array.from({ length: each * shops.length }, (_, turn) => orderText(shops, turn));
  // Few requests at a time: sessions are measured, not the HTTP front.
  await callAll(side.apiPort, calls, { connections: 4 });
  while ((await sent()) - before < shops.length * each) await delay(100);
  return performance.now() - startedMs;
}

/** The next message of the shops in turn, each with its own text and to another customer than the shop's last. */
export function orderText(shops: readonly LiveShop[], turn: number): Call {
  const index = turn % shops.length;
  const { id, key } = shops[index] as LiveShop;
  const to = customer(index + Math.floor(turn / shops.length));
  const body = { channel: 'msgapp', to, text: `Your order ${turn} waits at the counter.` };
  return { method: 'POST', path: `/api/v1/shops/${id}/messages`, token: key, body };
}

/** One of the numbers that every tenant of a bench has as customers. */
export function customer(index: number): string {
  return `+4179${1_000_000 + (index % CUSTOMERS)}`;
}

/** All that is asked of one number of sessions. */
async function measured(context: BenchContext, count: number): Promise<Figures> {
  const restSeconds = context.setting('rest', 60);
  const figures: Record<string, number> = {};
  const step = (text: string): void => context.progress(`sessions: ${count}, ${text}`);
  await onLiveSide({ directory: context.directory, gapMs: '20-60' }, async (side) => {
    step('pairing');
    const pairedMs = performance.now();
    const shops = await liveShops(side, count);
    figures.pairEachMs = (performance.now() - pairedMs) / count;
    step('restart');
    const restartedMs = performance.now();
    figures.readyMs = await side.restart();
    await side.untilConnected(count);
    figures.reconnectAllMs = performance.now() - restartedMs;
    await delay(SETTLE_MS);
    step('at rest');
    const { server, simulator, redis } = side.watch;
    const cpuBefore = cpuMs(server);
    await delay(restSeconds * 1_000);
    figures.restCpuPercent = (cpuMs(server) - cpuBefore) / (restSeconds * 10);
    figures.restMiB = residentMiB(server);
    Object.assign(figures, await heaps(side));
    figures.simulatorMiB = residentMiB(simulator);
    figures.redisMiB = residentMiB(redis);
    step(`at rest: ${JSON.stringify(figures)}`);
    step('sending');
    const wireMs = await throughTheWire(side, shops, 3);
    figures.wirePerSecond = (3 * count * 1_000) / wireMs;
    step('load beside them');
    Object.assign(figures, await acceptedBeside(side, shops, context.seconds));
  });
  return figures;
}

/** What the front takes for other shops while these are connected. */
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

/** What live sessions cost, from 1 to `--sessions=500`, with `--rest=60` seconds of looking on. */
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
    for (const count of [...counts].filter((size) => size <= largest && size >= smallest)) {
      runs.push({ side: `${count} sessions`, round: 1, figures: await measured(context, count) });
    }
    return runs;
  },
};
