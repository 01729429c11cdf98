import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** The core of each process: the server has one to itself; Redis and the client share the other. */
export type Core = 'server' | 'rest';

const isPinned = availableParallelism() >= 2 && hasTaskset();

/** The table's note on pinning. */
export const PINNING = isPinned
  ? 'pinned: the server on core 0, Redis and the client on core 1'
  : 'not pinned: taskset or a second core is missing';

/** Returns the command, bound to its core if that is possible. Keeps the process id. */
export function onCore(
  core: Core | undefined,
  command: string,
  args: readonly string[],
): { readonly command: string; readonly args: readonly string[] } {
  if (!isPinned || core === undefined) return { command, args };
  return { command: 'taskset', args: ['-c', core === 'server' ? '0' : '1', command, ...args] };
}

function hasTaskset(): boolean {
  try {
    execFileSync('taskset', ['-c', '0,1', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
