/**
 * Runs test files in one process, one after the other: `node together.js FILE…`. Each file is a suite with the file's
 * path as its name. So hooks at its top level are for its own tests only.
 */
import { describe } from 'node:test';
import { pathToFileURL } from 'node:url';

/** A file that takes longer fails, and the report names the test that did not end. `bin/check` ends it after 600 s. */
const LONGEST_MS = 500_000;

for (const file of process.argv.slice(2)) {
  describe(file, { timeout: LONGEST_MS }, async () => {
    await import(pathToFileURL(file).href);
  });
}
