import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { importOverrides } from './import-rules.ts';

/** Writes the table of `bin/import-rules.ts` as linter overrides into the file that biome.json extends. */
const path = resolve(import.meta.dirname, '../biome.imports.json');
writeFileSync(path, `${JSON.stringify({ overrides: importOverrides() }, null, 2)}\n`);
