import { readdirSync, readFileSync } from 'node:fs';

/** Linux counts CPU time in hundredths of a second (`getconf CLK_TCK`). */
const TICK_MS = 10;
const PAGE_BYTES = 4096;

/** Returns the CPU time of a process since its start, in milliseconds: user and kernel mode of all its threads. */
export function cpuMs(pid: number): number {
  return ticksOf(statFields(`/proc/${pid}/stat`)) * TICK_MS;
}

/** Like `cpuMs`, for each thread that a process has now, by thread id. The main thread's id is that of the process. */
export function threadsCpuMs(pid: number): Map<number, number> {
  const threads = new Map<number, number>();
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      threads.set(Number(thread), ticksOf(statFields(`/proc/${pid}/task/${thread}/stat`)) * TICK_MS);
    } catch {
      // The thread has ended since the directory was read.
    }
  }
  return threads;
}

/** Returns how much memory of a process is in RAM, in MiB. */
export function residentMiB(pid: number): number {
  return (Number(statFields(`/proc/${pid}/stat`)[21]) * PAGE_BYTES) / 2 ** 20;
}

/** CPU time and memory of processes, by their names. */
export interface Usage {
  readonly cpuMs: Readonly<Record<string, number>>;
  readonly residentMiB: Readonly<Record<string, number>>;
}

/** Reads CPU time and memory of these processes, which are given as process ids by name. */
export function usageOf(watch: Readonly<Record<string, number>>): Usage {
  const each = (figureOf: (pid: number) => number): Record<string, number> =>
    Object.fromEntries(Object.entries(watch).map(([name, pid]) => [name, figureOf(pid)]));
  return { cpuMs: each(cpuMs), residentMiB: each(residentMiB) };
}

/** Returns the CPU time between two readings, and the memory at the second one. */
export function usedBetween(before: Usage, after: Usage): Usage {
  const used = Object.entries(after.cpuMs).map(([name, ms]) => [name, ms - (before.cpuMs[name] ?? 0)]);
  return { cpuMs: Object.fromEntries(used), residentMiB: after.residentMiB };
}

/** Returns the machine's load average over the last minute. */
export function loadAverage(): number {
  return Number(readFileSync('/proc/loadavg', 'utf8').split(' ')[0]);
}

/** Returns the time in user and in kernel mode together. */
function ticksOf(fields: readonly string[]): number {
  return Number(fields[11]) + Number(fields[12]);
}

/** Returns the fields of a stat file after the name, which may itself contain spaces and brackets. */
function statFields(path: string): string[] {
  const stat = readFileSync(path, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}
