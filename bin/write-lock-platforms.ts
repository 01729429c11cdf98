import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withAllPlatforms } from './lock-platforms.ts';

const path = join(import.meta.dirname, '../package-lock.json');
writeFileSync(
  path,
  `${JSON.stringify(withAllPlatforms(JSON.parse(readFileSync(path, 'utf8'))), undefined, 2)}\n`,
);
