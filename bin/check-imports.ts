/** Prints every import that `bin/gate/import-rules.ts` refuses, and fails if there is one. */

import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { CHECKED_FOLDERS, refusedImports } from './gate/import-rules.ts';

const root = resolve(import.meta.dirname, '..');
const files = CHECKED_FOLDERS.flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) => `${folder}/${path}`),
).filter((path) => /\.(?:ts|js|mjs)$/.test(path) && !/\/(?:dist|node_modules)\//.test(path));
const refusals = files.flatMap((path) => refusedImports(path, readFileSync(join(root, path), 'utf8')));

for (const line of refusals) console.error(line);
if (refusals.length > 0) process.exitCode = 1;
