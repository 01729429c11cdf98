import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes the data directory, readable by its owner only, and the missing folders above it. Throws if it cannot be made.
 * Node's own `recursive` never ends if the kernel answers ENOENT for a folder whose parent exists (procfs).
 */
export function makeDataDirectory(path: string): void {
  if (existsSync(path)) return;
  makeDataDirectory(dirname(path));
  mkdirSync(path, { mode: 0o700 });
}
