import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { root } from './root.ts';

/** Returns the text of a file of the repository. A relative path begins at the root. */
export function readRepositoryFile(path: string): string {
  return readFileSync(resolve(root, path), 'utf8');
}
