/** README's table has a row for each variable that the programs read, and for no other. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

/** Variables of the tests alone. */
const OF_TESTS: ReadonlySet<string> = new Set([
  'TEST_SEED',
  'TEST_RUNS',
  'TEST_COMPILED',
  'SERVICE_IMAGE',
  'REDIS_IMAGE',
]);

test('README names each setting, and no other', () => {
  const schemas = ['bin/environment.ts', 'bin/operator-settings.ts'].map(read).join('\n');
  // An entry of a schema's object: its name, a colon, and how it is read.
  const entries = [...schemas.matchAll(/[\n{,] *([A-Z]+(?:_[A-Z]+)*): [a-z]/g)];
  const settings = new Set(entries.map(([, name = '']) => name).filter((name) => !OF_TESTS.has(name)));
  assert.ok(settings.size > 25, 'the schemas are no longer understood');
  const rows = read('README.md').match(/^\| `[A-Z].*$/gm) ?? [];
  const documented = rows.flatMap((row) => row.split('|')[1]?.match(/[A-Z][A-Z_]+/g) ?? []);
  assert.deepEqual([...documented].sort(), [...settings].sort());
});
