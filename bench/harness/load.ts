import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { HostilePlan, HostileResult } from '../load/hostile-plan.ts';
import type { LoadPlan, LoadResult } from '../load/load-plan.ts';
import type { ReadersPlan, ReadersResult } from '../load/readers-plan.ts';
import type { LoadClient } from './bench.ts';
import { OWN_BUILD } from './build.ts';
import { onCore } from './cores.ts';
import { startWrk } from './wrk.ts';

/** Runs a load in a separate process. Rejects if that fails. */
export function startLoad(plan: LoadPlan, client: LoadClient = 'node'): Promise<LoadResult> {
  return client === 'wrk' ? startWrk(plan) : runProcess('load-process', plan);
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
