import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';

/** A lock that lasts while any process keeps the file open. It ends with the last of them, also after a kill. */
export interface FileLock {
  /** The open file. A child that inherits it holds the lock too. */
  readonly file: number;
  /** Closes the file in this process. */
  release(): void;
}

/**
 * Takes flock(2) on a file that is made when missing; `undefined` when others still hold it after `waitSeconds`. Node
 * has no call for it. So flock(1) takes it on the open file that it shares with us, and leaves it to us.
 */
export async function lockFile(
  path: string,
  options: { readonly waitSeconds: number },
): Promise<FileLock | undefined> {
  const file = openSync(path, 'a', 0o600);
  const flock = spawn('flock', ['--wait', String(options.waitSeconds), '3'], {
    stdio: ['ignore', 'ignore', 'inherit', file],
  });
  const [code] = await once(flock, 'exit').catch((error) => {
    throw new Error('flock is missing; Debian has it in util-linux.', { cause: error });
  });
  if (code === 0) return { file, release: () => closeSync(file) };
  closeSync(file);
  return undefined;
}
