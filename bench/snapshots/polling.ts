/**
 * What looking costs the tenants: latencies of a steady load on one node with many connected shops, with and without
 * somebody who asks for the list of shops, for a search in it, for the overview and for the metrics each second. The
 * two sides take turns, and so does which of them begins a round; CPU is the service's own.
 * `node --import tsx bench/snapshots/polling.ts --shops=10000 --rounds=3 --seconds=10 --rate=200`
 * `--questions=1` asks for the list alone. `--answers=20` tells the CPU of one answer of each kind as well.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import * as v from 'valibot';
import { spawnGuarded } from '../../bin/guarded-process.ts';
import { startPrivateRedis } from '../../bin/private-redis.ts';
import { readReadyLine } from '../../bin/ready-line.ts';
import { makeFleet } from '../harness/fleet.ts';
import { spread, spreadText } from '../harness/statistics.ts';

const TENANTS = 20;
const QUESTIONS = [
  '/admin/v1/actors?sort=trouble&limit=50',
  '/admin/v1/actors?sort=waiting&q=shop&limit=50',
  '/admin/v1/overview',
  '/metrics',
];
const root = resolve(import.meta.dirname, '../..');

const given = new Map(
  process.argv.slice(2).map((word) => word.replace(/^--/, '').split('=') as [string, string]),
);
const setting = (name: string, fallback: number): number => Number(given.get(name) ?? fallback);
const shops = setting('shops', 10_000);
const rounds = setting('rounds', 3);
const seconds = setting('seconds', 10);
const rate = setting('rate', 200);
const answers = setting('answers', 0);
const asked = QUESTIONS.slice(0, setting('questions', QUESTIONS.length));

interface Timed {
  readonly latencies: number[];
  readonly polls: number[];
}

async function timed(url: string, token: string): Promise<number> {
  const begun = performance.now();
  const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
  await answer.arrayBuffer();
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  return performance.now() - begun;
}

/** Calls at a fixed rate whatever the answers take, so that a pause shows in everybody who came during it. */
async function load(options: {
  readonly call: () => Promise<number>;
  readonly poll: (() => Promise<number[]>) | undefined;
}): Promise<Timed> {
  const calls: Promise<number>[] = [];
  const polls: Promise<number[]>[] = [];
  const begun = performance.now();
  for (let index = 0; index < rate * seconds; index += 1) {
    const dueMs = (index * 1_000) / rate - (performance.now() - begun);
    if (dueMs > 0) await new Promise((wake) => setTimeout(wake, dueMs));
    calls.push(options.call());
    if (index % rate === 0 && options.poll !== undefined) polls.push(options.poll());
  }
  return { latencies: await Promise.all(calls), polls: (await Promise.all(polls)).flat() };
}

/** CPU the service has used since its start. */
async function cpuMs(url: string): Promise<number> {
  const answer = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
  return 1_000 * Number(/^process_cpu_seconds_total (\S+)/m.exec(await answer.text())?.[1]);
}

/** CPU of one answer: what the service uses while it is asked, less what it uses by itself in the same time. */
async function costMs(admin: string, path: string): Promise<number> {
  const pause = (ms: number): Promise<void> => new Promise((wake) => setTimeout(wake, ms));
  const begun = performance.now();
  const beforeMs = await cpuMs(admin);
  for (let answer = 0; answer < answers; answer += 1) {
    await timed(`${admin}${path}`, token);
    await pause(60);
  }
  const askedMs = await cpuMs(admin);
  await pause(performance.now() - begun);
  const idleMs = await cpuMs(admin);
  return (askedMs - beforeMs - (idleMs - askedMs)) / answers;
}

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

const directory = mkdtempSync(join(tmpdir(), 'polling-'));
const redis = await startPrivateRedis({ directory, appendfsync: 'always' });
const token = randomBytes(24).toString('base64url');
const service = spawnGuarded({
  name: 'service',
  command: process.execPath,
  args: ['--import', import.meta.resolve('tsx'), 'bench/sides/memory-service.ts'],
  workingDirectory: root,
  environment: {
    PATH: dirname(process.execPath),
    HOST: '127.0.0.1',
    PORT: '0',
    ADMIN_HOST: '127.0.0.1',
    ADMIN_PORT: '0',
    ADMIN_TOKEN: token,
    REDIS_URL: redis.socketPath,
    DATA_DIR: directory,
    CREDENTIALS_KEY: randomBytes(32).toString('base64'),
    NODE_ID: 'node-1',
    LOG_LEVEL: 'error',
  },
  output: 'read',
});
try {
  const schema = v.object({ ready: v.literal(true), api: v.string(), admin: v.string() });
  const { api, admin } = await readReadyLine(service, { schema });
  const fleet = await makeFleet({
    admin: { port: Number(new URL(admin).port), token },
    api: { port: Number(new URL(api).port) },
    size: { tenants: TENANTS, shopsPerTenant: shops / TENANTS, customers: 0, connected: true, held: false },
  });
  let next = 0;
  const call = (): Promise<number> => {
    const shop = fleet.shops[next++ % fleet.shops.length];
    return timed(`${api}/shops/${shop?.id}`, shop?.key ?? '');
  };
  const poll = (): Promise<number[]> => Promise.all(asked.map((path) => timed(`${admin}${path}`, token)));
  await load({ call, poll });
  for (const path of answers === 0 ? [] : asked) {
    console.log(`${path}: ${(await costMs(admin, path)).toFixed(1)} ms of CPU an answer`);
  }
  const p99s: { readonly quiet: number[]; readonly polled: number[] } = { quiet: [], polled: [] };
  const cpu: { readonly quiet: number[]; readonly polled: number[] } = { quiet: [], polled: [] };
  for (let round = 1; round <= rounds; round += 1) {
    const sides = ['quiet', 'polled'] as const;
    for (const side of round % 2 === 0 ? sides.toReversed() : sides) {
      const usedMs = await cpuMs(admin);
      const { latencies, polls } = await load({ call, poll: side === 'polled' ? poll : undefined });
      cpu[side].push(((await cpuMs(admin)) - usedMs) / seconds);
      const [p50, p99, most] = [0.5, 0.99, 1].map((share) => quantile(latencies, share));
      p99s[side].push(p99 ?? Number.NaN);
      const took = polls.length === 0 ? '' : `, polls p50 ${quantile(polls, 0.5).toFixed(1)} ms`;
      console.log(
        `round ${round} ${side}: p50 ${p50?.toFixed(2)} p99 ${p99?.toFixed(2)} most ${most?.toFixed(2)} ms${took}`,
      );
    }
  }
  const { quiet, polled } = p99s;
  console.log(
    `${shops} shops, ${rate} requests/s: p99 ${spreadText(spread(quiet))} ms alone, ${spreadText(spread(polled))} ms polled each second; ` +
      `CPU ${spreadText(spread(cpu.quiet))} and ${spreadText(spread(cpu.polled))} ms a second`,
  );
} finally {
  service.signal('SIGKILL');
  await service.ended;
  await redis.process.stop({ graceMs: 5_000 });
  rmSync(directory, { recursive: true, force: true });
}
