import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { type LoadPlan, type LoadResult, MESSAGES_PER_SHOP, type Requests } from '../load/load-plan.ts';
import { fixedRequests } from '../load/request-source.ts';
import { onCore } from './cores.ts';
import { type Usage, usageOf, usedBetween } from './process-usage.ts';

const SCRIPT = resolve(import.meta.dirname, '../load/wrk.lua');

/** The last line that `wrk.lua` prints. */
interface WrkResult {
  readonly requests: number;
  readonly durationMs: number;
  readonly notAnswered: number;
  readonly refused: number;
  readonly made: number;
  readonly cpuMs: number;
  readonly ms: readonly [p50: number, p90: number, p99: number, p999: number, max: number];
}

/** True if the C load generator is installed (Debian's package `wrk`). */
export function hasWrk(): boolean {
  try {
    execFileSync('wrk', ['--version'], { stdio: 'ignore' });
    return true;
  } catch (error) {
    // wrk always exits with 1.
    return (error as NodeJS.ErrnoException).code !== 'ENOENT';
  }
}

/**
 * Runs a load by wrk, in whole seconds. A latency begins when the request is written, and not when it was due. Bodies
 * of replies are not read, so the result has no messages and no overloads. Rejects if a request was refused or not
 * answered.
 */
export async function startWrk(plan: LoadPlan): Promise<LoadResult> {
  const directory = mkdtempSync(join(tmpdir(), 'wrk-'));
  const path = join(directory, 'requests');
  writeFileSync(path, fileOf(plan.requests));
  try {
    const warm = plan.warmupMs === 0 ? undefined : await run(plan, { path, forMs: plan.warmupMs });
    const before = usageOf(plan.watch);
    const from = warm?.made ?? (plan.requests.kind === 'send' ? plan.requests.from : 0);
    const measured = await run(plan, { path, forMs: plan.durationMs, from });
    return resultOf(measured, usedBetween(before, usageOf(plan.watch)));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function run(
  { ports, connections, ratePerSecond = 0, atMost = 0, requests }: LoadPlan,
  { path, forMs, from }: { readonly path: string; readonly forMs: number; readonly from?: number },
): Promise<WrkResult> {
  const [port] = ports;
  if (ports.length !== 1) throw new Error('wrk asks one port');
  const first = from ?? (requests.kind === 'send' ? requests.from : 0);
  const seconds = Math.ceil(forMs / 1_000);
  const { command, args } = onCore('rest', 'wrk', [
    ...['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '30s', '-s', SCRIPT],
    ...[`http://127.0.0.1:${port}`, '--', path],
    ...[ratePerSecond, first, atMost, MESSAGES_PER_SHOP].map(String),
  ]);
  const { stdout } = await promisify(execFile)(command, args);
  const result = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as WrkResult;
  if (result.refused > 0 || result.notAnswered > 0)
    throw new Error(`not all requests were let through: ${JSON.stringify(result)}`);
  if (requests.kind === 'send' && !requests.isUnbounded) {
    const room = requests.shops.length * MESSAGES_PER_SHOP;
    if (result.made > room)
      throw new Error(`${requests.shops.length} shops take no more than ${room} messages`);
  }
  return result;
}

function fileOf(requests: Requests): string {
  if (requests.kind !== 'send') {
    return fixedRequests(requests)
      .map(({ path, token }) => `get /api/v1${path} ${token}\n`)
      .join('');
  }
  const shops = requests.shops.map(({ id, key }) => `shop ${id} ${key}\n`);
  return [...shops, ...requests.recipients.map((phone) => `recipient ${phone}\n`)].join('');
}

function resultOf(result: WrkResult, used: Usage): LoadResult {
  const { requests, durationMs, made } = result;
  const [p50, p90, p99, p999, max] = result.ms;
  return {
    requests,
    durationMs,
    perSecond: (requests * 1_000) / durationMs,
    byStatus: { '2xx': requests },
    latencyMs: { p50, p90, p99, p999, max },
    p99FromWriteMs: p99,
    overloaded: { count: 0, p99Ms: Number.NaN, lastMs: 0 },
    p99ByTenthMs: [],
    cpuMs: { ...used.cpuMs, client: result.cpuMs },
    residentMiB: used.residentMiB,
    mostResidentMiB: used.residentMiB.server ?? Number.NaN,
    made,
    messages: [],
  };
}
