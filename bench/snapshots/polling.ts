/**
 * The cost of operators' polling for tenants: latencies of a steady load on one node with many connected shops, with and without
 * a poller that asks for the list of shops, for a search in it, for the overview and for the metrics each second. The
 * two sides take turns, and so does which of them begins a round. Load and questions come from processes of their own,
 * neither on the core of the service; latencies count from the moment a request was due.
 * `node --import tsx bench/snapshots/polling.ts --shops=10000 --rounds=5 --seconds=10 --rate=200`
 * `--ask=search,metrics` asks some of the questions, `--ask=` none. `--load=send` sends messages instead of looking at
 * channels. `--hold-ups=1` tells how long the service's event loop was held up as well (watching it costs a little),
 * `--answers=100` the CPU of one answer of each kind.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load, sendRequests } from '../benches/loads.ts';
import { build } from '../harness/build.ts';
import { PINNING } from '../harness/cores.ts';
import { startPolls } from '../harness/load.ts';
import { cpuMs } from '../harness/process-usage.ts';
import type { HoldUps, RunningSide } from '../harness/running-side.ts';
import { startSide } from '../harness/side.ts';
import { spread, spreadText } from '../harness/statistics.ts';
import type { LoadResult } from '../load/load-plan.ts';

const SHOPS_PER_TENANT = 500;
const WARMUP_MS = 1_000;
const CONNECTIONS = 16;
const QUESTIONS: { readonly [name: string]: string } = {
  list: '/admin/v1/actors?sort=trouble&limit=50',
  search: '/admin/v1/actors?sort=waiting&q=shop&limit=50',
  overview: '/admin/v1/overview',
  metrics: '/metrics',
};

const given = new Map(
  process.argv.slice(2).map((word) => word.replace(/^--/, '').split('=') as [string, string]),
);
const setting = (name: string, fallback: number): number => Number(given.get(name) ?? fallback);
const shops = setting('shops', 10_000);
const rounds = setting('rounds', 5);
const seconds = setting('seconds', 10);
const ratePerSecond = setting('rate', 200);
const answers = setting('answers', 0);
const isSending = given.get('load') === 'send';
const asked = Object.entries(QUESTIONS).filter(([name]) =>
  (given.get('ask') ?? Object.keys(QUESTIONS).join()).split(',').includes(name),
);
const paths = asked.map(([, path]) => path);

interface Measured {
  readonly result: LoadResult;
  /** How long each answer took, by question. */
  readonly tookMs: readonly (readonly number[])[];
  readonly holdUps: HoldUps | undefined;
}

let sent = 0;

/** One load, with or without somebody who looks. */
async function measure(side: RunningSide, isPolled: boolean): Promise<Measured> {
  const { port, token } = side.admin as NonNullable<RunningSide['admin']>;
  const watches = given.has('hold-ups');
  if (watches) await side.holdUps();
  const requests = isSending
    ? sendRequests(side, sent)
    : ({ kind: 'channel', shops: side.fleet.shops } as const);
  const times = isPolled ? Math.ceil(seconds + WARMUP_MS / 1_000) : 0;
  const [result, { tookMs }] = await Promise.all([
    load(side, requests, { seconds, ratePerSecond, warmupMs: WARMUP_MS, connections: CONNECTIONS }),
    startPolls({ port, token, paths, everyMs: 1_000, times }),
  ]);
  sent = result.made;
  const refused = Object.keys(result.byStatus).filter((status) => !status.startsWith('2'));
  if (refused.length > 0) throw new Error(`not all was let through: ${JSON.stringify(result.byStatus)}`);
  return { result, tookMs, holdUps: watches ? await side.holdUps() : undefined };
}

/** CPU of one answer: what the service uses while it is asked, less what it uses by itself in the same time. */
async function costMs({ admin, watch }: RunningSide, path: string): Promise<number> {
  const { port, token } = admin as NonNullable<RunningSide['admin']>;
  const usedMs = (): number => cpuMs(watch.server as number);
  const begunMs = performance.now();
  const beforeMs = usedMs();
  await startPolls({ port, token, paths: [path], everyMs: 60, times: answers });
  const askedMs = usedMs();
  await new Promise((wake) => setTimeout(wake, performance.now() - begunMs));
  return (askedMs - beforeMs - (usedMs() - askedMs)) / answers;
}

function lineOf({ result, tookMs, holdUps }: Measured): string {
  const { p50, p99, p999, max } = result.latencyMs;
  const latencies = [p50, p99, p999, max].map((ms) => ms.toFixed(2));
  const words = [`p50 ${latencies[0]} p99 ${latencies[1]} p99.9 ${latencies[2]} most ${latencies[3]} ms`];
  for (const [index, took] of tookMs.entries()) {
    if (took.length > 0) words.push(`${asked[index]?.[0]} ${spread(took).median.toFixed(1)} ms`);
  }
  if (holdUps !== undefined) {
    const { p99Ms, longestMs, collections, collectingMs, longestCollectionMs } = holdUps;
    words.push(
      `held up p99 ${p99Ms.toFixed(2)} most ${longestMs.toFixed(2)} ms`,
      `${collections} collections ${collectingMs.toFixed(0)} ms, longest ${longestCollectionMs.toFixed(2)} ms`,
    );
  }
  return words.join(', ');
}

/** The median of a figure with its least and its most, of the rounds of one side. */
function over(measured: readonly Measured[], figure: (result: LoadResult) => number): string {
  return spreadText(spread(measured.map(({ result }) => figure(result))));
}

const directory = mkdtempSync(join(tmpdir(), 'polling-'));
build();
const tenants = Math.max(1, Math.ceil(shops / SHOPS_PER_TENANT));
const side = await startSide('service', {
  directory,
  fleet: {
    tenants,
    shopsPerTenant: Math.ceil(shops / tenants),
    customers: isSending ? 1_000 : 0,
    connected: true,
    held: false,
  },
});
try {
  await measure(side, true);
  for (const [name, path] of answers === 0 ? [] : asked) {
    console.log(`${name}: ${(await costMs(side, path)).toFixed(2)} ms of CPU an answer`);
  }
  const alone: Measured[] = [];
  const polled: Measured[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    const order = [false, true];
    for (const isPolled of round % 2 === 0 ? order.toReversed() : order) {
      const measured = await measure(side, isPolled);
      (isPolled ? polled : alone).push(measured);
      console.log(`round ${round} ${isPolled ? 'polled' : 'alone'}: ${lineOf(measured)}`);
    }
  }
  const p99 = ({ latencyMs }: LoadResult): number => latencyMs.p99;
  const p999 = ({ latencyMs }: LoadResult): number => latencyMs.p999;
  const busy = (result: LoadResult): number => (result.cpuMs.server ?? 0) / seconds;
  console.log(
    `${shops} shops, ${ratePerSecond} requests/s, alone and polled each second: ` +
      `p99 ${over(alone, p99)} and ${over(polled, p99)} ms, p99.9 ${over(alone, p999)} and ${over(polled, p999)} ms, ` +
      `CPU ${over(alone, busy)} and ${over(polled, busy)} ms a second; ${PINNING}`,
  );
} finally {
  await side.stop();
  rmSync(directory, { recursive: true, force: true });
}
