import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes the data directory, for its owner only, and what is missing above it. Throws when it cannot be made; Node's own
 * `recursive` tries for ever where the kernel says ENOENT of a folder whose parent is there (procfs).
 */
export function makeDataDirectory(path: string): void {
  if (existsSync(path)) return;
  makeDataDirectory(dirname(path));
  mkdirSync(path, { mode: 0o700 });
}
