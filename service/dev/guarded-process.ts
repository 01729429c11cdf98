import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type Clock, systemClock } from '../../runtime/clock.ts';

/** How a process ended: its exit code, or the signal that ended it. */
export interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A child that ends with this process, however this process ends. */
export interface GuardedProcess {
  readonly name: string;
  /** The command's own process id, good for signals. */
  readonly pid: number;
  /** Standard output, when it was asked for with `output: 'read'`. */
  readonly stdout: NodeJS.ReadableStream | null;
  /** Standard error, when it was asked for with `errors: 'read'`. */
  readonly stderr: NodeJS.ReadableStream | null;
  /** Settles once, when the process has ended; never rejects. */
  readonly ended: Promise<ProcessExit>;
  /** Sends a signal; false when the process is gone. */
  signal(signal: NodeJS.Signals): boolean;
  /** Asks with SIGTERM, ends with SIGKILL when `graceMs` were not enough, and waits for the end. */
  stop(options: { readonly graceMs: number }): Promise<ProcessExit>;
}

/** In `output` and `errors`, `pass` sends the lines to our standard error. */
export interface GuardedProcessOptions {
  /** The name in messages. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Replaces the inherited environment when given. */
  readonly environment?: NodeJS.ProcessEnv;
  readonly workingDirectory?: string;
  readonly output?: 'read' | 'pass';
  readonly errors?: 'read' | 'pass';
  /** An open file that the command keeps open while it lives. A lock on the file lasts as long. */
  readonly keepsOpen?: number;
  readonly clock?: Clock;
}

/**
 * The child shell starts a watcher and then becomes the command, so the command keeps the child's process id. The
 * watcher reads a pipe whose other end only our process has. If we end, even by SIGKILL, the pipe ends. The watcher
 * then ends the command, with SIGTERM and after 10 s with SIGKILL.
 */
const GUARD_SCRIPT = `
exec 4<&0
(
  lives() { kill -0 $$ && ! grep -qs '^State:.*Z' /proc/$$/status; }
  while read -r _; do :; done
  kill -TERM $$ || exit 0
  tries=0
  while [ $tries -lt 100 ]; do
    sleep 0.1
    lives || exit 0
    tries=$((tries + 1))
  done
  kill -KILL $$
) <&4 3>&- 4>&- >/dev/null 2>&1 &
exec 4<&-
exec "$@" </dev/null
`;

/**
 * Starts a command in our own process group that ends when we do. A command that does not exist ends with code
 * 127.
 */
export function spawnGuarded(options: GuardedProcessOptions): GuardedProcess {
  const { name, command, args, output = 'pass', errors = 'pass', clock = systemClock } = options;
  const child: ChildProcess = spawn('/bin/sh', ['-c', GUARD_SCRIPT, name, command, ...args], {
    stdio: [
      'pipe',
      output === 'read' ? 'pipe' : 2,
      errors === 'read' ? 'pipe' : 2,
      options.keepsOpen ?? 'ignore',
    ],
    ...(options.environment === undefined ? {} : { env: options.environment }),
    ...(options.workingDirectory === undefined ? {} : { cwd: options.workingDirectory }),
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${name} could not be started: there is no /bin/sh`);
  // The shell closes its end as it becomes the command, so a write error on that pipe is expected.
  child.stdin?.on('error', () => undefined);
  const processEnd = once(child, 'exit').then(([code, signal]): ProcessExit => ({ code, signal }));
  const signal = (wantedSignal: NodeJS.Signals): boolean => child.kill(wantedSignal);
  return {
    name,
    pid,
    stdout: child.stdout,
    stderr: child.stderr,
    ended: processEnd,
    signal,
    async stop({ graceMs }) {
      signal('SIGTERM');
      const timeout = clock.after(graceMs, () => signal('SIGKILL'));
      const end = await processEnd;
      timeout.cancel();
      return end;
    },
  };
}

/** Says how a process ended, for people: `exit code 1` or `SIGKILL`. */
export function describeEnd(end: ProcessExit): string {
  return end.signal ?? `exit code ${end.code}`;
}
