/**
 * Adds the binaries of other platforms to lock files that npm wrote: node complete-lock-file.ts FILE …
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { withAllPlatforms } from './generators/lock-platforms.ts';

for (const path of process.argv.slice(2)) {
  writeFileSync(
    path,
    `${JSON.stringify(withAllPlatforms(JSON.parse(readFileSync(path, 'utf8'))), undefined, 2)}\n`,
  );
}
