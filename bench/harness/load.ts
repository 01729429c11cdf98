import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { HostilePlan, HostileResult } from '../load/hostile-plan.ts';
import type { LoadPlan, LoadResult, Requests } from '../load/load-plan.ts';
import type { ReadersPlan, ReadersResult } from '../load/readers-plan.ts';
import type { BenchContext, LoadClient } from './bench.ts';
import { OWN_BUILD } from './build.ts';
import { onCore } from './cores.ts';
import type { RunningSide } from './running-side.ts';
import { startWrk } from './wrk.ts';

/** Connections of a load, unless a bench asks for others (bench/README.md, How it is measured). */
const CONNECTIONS = 64;

const WARMUP_MS = 3_000;

/** Calls of `GET /me`. Every tenant has a key, and each call takes the next one. */
export function identityRequests({ fleet }: RunningSide): Requests {
  return { kind: 'me', keys: fleet.keys.map(({ key }) => key) };
}

/** Returns messages to known recipients, each text once. `from`: messages that the shops took before. */
export function sendRequests({ fleet, watch }: Pick<RunningSide, 'fleet' | 'watch'>, from = 0): Requests {
  // A side without Redis is a floor, which keeps no caps.
  const isUnbounded = watch.redis === undefined;
  return { kind: 'send', shops: fleet.shops, recipients: fleet.recipients, from, isUnbounded };
}

/**
 * Runs one load against a side in a separate process, after a warm-up that is not measured. Rejects if that fails.
 */
export function load(
  side: Pick<RunningSide, 'ports' | 'watch'>,
  requests: Requests,
  options: Pick<BenchContext, 'seconds'> &
    Partial<
      Pick<LoadPlan, 'ratePerSecond' | 'warmupMs' | 'connections' | 'atMost' | 'keptMessages' | 'mayOverload'>
    > & { readonly client?: LoadClient },
): Promise<LoadResult> {
  const { seconds, warmupMs = WARMUP_MS, connections = CONNECTIONS } = options;
  const { ratePerSecond, atMost, keptMessages, mayOverload } = options;
  const plan = {
    ports: side.ports,
    connections,
    warmupMs,
    durationMs: seconds * 1_000,
    requests,
    watch: side.watch,
    ratePerSecond,
    atMost,
    keptMessages,
    mayOverload,
  };
  return options.client === 'wrk' ? startWrk(plan) : runProcess('load-process', plan);
}

/** Runs hostile traffic during the load, in a separate process. Rejects if that fails. */
export function startHostile(plan: HostilePlan): Promise<HostileResult> {
  return runProcess('hostile-process', plan);
}

/** Runs readers of events during the load, in a separate process. Rejects if that fails. */
export function startReaders(plan: ReadersPlan): Promise<ReadersResult> {
  return runProcess('readers-process', plan);
}

function runProcess<Plan, Result>(name: string, plan: Plan): Promise<Result> {
  const { command, args } = onCore('rest', process.execPath, [
    join(OWN_BUILD.directory, `bench/load/${name}.js`),
  ]);
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(JSON.stringify(plan));
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(JSON.parse(Buffer.concat(chunks).toString('utf8')) as Result);
      else reject(new Error(`${name} ended with code ${code}`));
    });
  });
}
