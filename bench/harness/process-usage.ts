import { readFileSync } from 'node:fs';

/** Linux counts CPU time in hundredths of a second (`getconf CLK_TCK`). */
const TICK_MS = 10;
const PAGE_BYTES = 4096;

/** CPU time a process has used since its start, in user and kernel mode and all its threads, in milliseconds. */
export function cpuMs(pid: number): number {
  const [userTicks, kernelTicks] = statFields(pid).slice(11, 13).map(Number) as [number, number];
  return (userTicks + kernelTicks) * TICK_MS;
}

/** Memory of a process that is in RAM, in MiB. */
export function residentMiB(pid: number): number {
  return (Number(statFields(pid)[21]) * PAGE_BYTES) / 2 ** 20;
}

/** The fields of /proc/pid/stat after the name, which may itself hold spaces and brackets. */
function statFields(pid: number): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}
