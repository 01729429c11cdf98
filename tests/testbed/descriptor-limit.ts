import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';

/** The limit of descriptors of a process. */
export interface DescriptorLimit {
  /** Lowers it to the present use and `count` more. Resolves with the new limit. */
  leave(count: number): Promise<number>;
  /** Sets it to its first value. */
  restore(): Promise<void>;
  /** Restores it, and ends the helper. */
  close(): Promise<void>;
}

/**
 * Changes the soft limit of a process, of this one too. A shell that runs already does it, because a process without
 * descriptors starts none.
 */
export async function descriptorLimit(pid: number): Promise<DescriptorLimit> {
  const words = ['--pid', String(pid), '--nofile', '--noheadings', '--output', 'SOFT'];
  const first = execFileSync('prlimit', words, { encoding: 'utf8' }).trim();
  const shell = spawn('sh', { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(shell, 'exit');
  const set = async (limit: string): Promise<void> => {
    const done = once(shell.stdout, 'data');
    shell.stdin.write(`prlimit --pid ${pid} --nofile=${limit}: && echo done\n`);
    await done;
  };
  const restore = (): Promise<void> => set(first);
  return {
    restore,
    async leave(count) {
      // In this process, the folder itself is open while it is read.
      const usedCount = readdirSync(`/proc/${pid}/fd`).length - (pid === process.pid ? 1 : 0);
      await set(String(usedCount + count));
      return usedCount + count;
    },
    async close() {
      await restore();
      shell.stdin.end();
      await ended;
    },
  };
}
