import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = '/sys/fs/cgroup';

/** A limit of memory for a process that runs: what it allocates from then on counts. */
export interface MemoryLimit {
  /** Takes the process in, with all its threads. */
  take(pid: number): void;
  /** Removes the limit. Whatever it took must be gone. */
  remove(): void;
}

/**
 * Makes one in the first form of control groups or in the second. Throws where this process may not, which takes root
 * and a file system of control groups that may be written.
 */
export function memoryLimit(bytes: number): MemoryLimit {
  const first = join(ROOT, 'memory');
  const [parent, file] = existsSync(join(first, 'memory.limit_in_bytes'))
    ? [first, 'memory.limit_in_bytes']
    : [secondForm(), 'memory.max'];
  const folder = mkdtempSync(join(parent, 'limit-'));
  writeFileSync(join(folder, file), String(bytes));
  return {
    take: (pid) => writeFileSync(join(folder, 'cgroup.procs'), String(pid)),
    remove: () => rmdirSync(folder),
  };
}

/** The folder of the second form in which groups may have a limit of memory. */
function secondForm(): string {
  const folder = join(ROOT, 'chaos');
  if (!readFileSync(join(ROOT, 'cgroup.controllers'), 'utf8').includes('memory'))
    throw new Error('the control groups of this machine have no memory');
  mkdirSync(folder, { recursive: true });
  for (const place of [ROOT, folder]) writeFileSync(join(place, 'cgroup.subtree_control'), '+memory');
  return folder;
}
