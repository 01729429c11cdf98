import { readdirSync } from 'node:fs';
import type { Figures } from './bench.ts';
import { type LiveCpu, liveCpu } from './live-cpu.ts';
import { liveMemory } from './live-memory.ts';
import type { LiveSide } from './live-side.ts';

/** The metric of sessions that are connected now. */
export const CONNECTED = 'msgapi_sessions{state="connected"}';

/** CPU time used up to one moment. */
export interface Cpu extends LiveCpu {
  readonly atMs: number;
}

export const cpuOf = (side: LiveSide): Cpu => ({ atMs: performance.now(), ...liveCpu(side) });

/** Returns the CPU since `cpuBefore`, in percent of a core. `Other` is V8's collectors and compilers in the service. */
export function cpuSince(side: LiveSide, cpuBefore: Cpu): Figures {
  const cpuNow = cpuOf(side);
  const percent = (ms: number): number => (ms * 100) / (cpuNow.atMs - cpuBefore.atMs);
  const [server, main, workers] = [
    cpuNow.server - cpuBefore.server,
    cpuNow.main - cpuBefore.main,
    cpuNow.workers - cpuBefore.workers,
  ];
  return {
    cpuPercent: percent(server),
    mainCpuPercent: percent(main),
    workerCpuPercent: percent(workers),
    otherCpuPercent: percent(server - main - workers),
    simulatorCpuPercent: percent(cpuNow.simulator - cpuBefore.simulator),
    redisCpuPercent: percent(cpuNow.redis - cpuBefore.redis),
  };
}

/** Returns how often sessions ended since the service started, in all and by cause; none should. */
export async function endsOf(side: LiveSide): Promise<Figures> {
  const metrics = await side.metrics();
  const byCause = [...metrics].flatMap(([name, value]) => {
    const cause = /^msgapi_session_ends_total\{end="(.+)"\}$/.exec(name)?.[1];
    return cause === undefined || value === 0 ? [] : [[`ends: ${cause}`, value] as const];
  });
  return {
    ends: byCause.reduce((sum, [, value]) => sum + value, 0),
    ...Object.fromEntries(byCause),
    workersLost: metrics.get('msgapi_session_workers_lost_total') ?? 0,
    connected: metrics.get(CONNECTED) ?? 0,
  };
}

export async function usage(side: LiveSide): Promise<Figures> {
  const { server, simulator } = side.watch;
  return {
    ...(await liveMemory(side)),
    descriptors: descriptorsOf(server),
    simulatorDescriptors: descriptorsOf(simulator),
  };
}

const descriptorsOf = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;
