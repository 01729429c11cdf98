import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

// A terminal interrupts only its own group, so an interrupted program kills those that it started.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

/**
 * Runs a program that prints the results of tests as TAP, with all that it starts in one process group. Resolves to
 * true if it ends without a failure. At its first failure, and after `limitMs`, it kills the group: one failure says
 * enough, and the rest may take minutes.
 */
export function passes(
  command: readonly [program: string, ...args: string[]],
  options: { readonly cwd: string; readonly limitMs?: number },
): Promise<boolean> {
  const [program, ...args] = command;
  const child = spawn(program, args, {
    cwd: options.cwd,
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  const killGroup = (): void => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
  };
  process.once('exit', killGroup);
  const timer = options.limitMs === undefined ? undefined : setTimeout(killGroup, options.limitMs);
  createInterface(child.stdout).on('line', (line) => {
    if (/^ *not ok /.test(line)) killGroup();
  });
  return new Promise((settle) => {
    child.once('exit', (code) => {
      clearTimeout(timer);
      process.off('exit', killGroup);
      settle(code === 0);
    });
  });
}
