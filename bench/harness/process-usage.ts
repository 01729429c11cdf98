import { readdirSync, readFileSync } from 'node:fs';

/** Linux counts CPU time in hundredths of a second (`getconf CLK_TCK`). */
const TICK_MS = 10;
const PAGE_BYTES = 4096;

/** CPU time a process has used since its start, in user and kernel mode and all its threads, in milliseconds. */
export function cpuMs(pid: number): number {
  return ticksOf(statFields(`/proc/${pid}/stat`)) * TICK_MS;
}

/** Like `cpuMs`, for each thread that a process has now, by thread id; the main thread's is the process's. */
export function threadsCpuMs(pid: number): Map<number, number> {
  const threads = new Map<number, number>();
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      threads.set(Number(thread), ticksOf(statFields(`/proc/${pid}/task/${thread}/stat`)) * TICK_MS);
    } catch {
      // It ended since the directory was read.
    }
  }
  return threads;
}

/** Memory of a process that is in RAM, in MiB. */
export function residentMiB(pid: number): number {
  return (Number(statFields(`/proc/${pid}/stat`)[21]) * PAGE_BYTES) / 2 ** 20;
}

/** The machine's load average over the last minute. */
export function loadAverage(): number {
  return Number(readFileSync('/proc/loadavg', 'utf8').split(' ')[0]);
}

/** Time in user and in kernel mode together. */
function ticksOf(fields: readonly string[]): number {
  return Number(fields[11]) + Number(fields[12]);
}

/** The fields of a stat file after the name, which may itself hold spaces and brackets. */
function statFields(path: string): string[] {
  const stat = readFileSync(path, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}
