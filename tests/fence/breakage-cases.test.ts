import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { cases } from './breakage-cases.ts';
import { effectBeforeCommit, withoutFence } from './broken-runtime.ts';

const root = resolve(import.meta.dirname, '../..');

test('every breakage finds what it breaks, once', () => {
  const stale = [...cases, withoutFence, effectBeforeCommit].flatMap(({ file, edits }) => {
    const source = readFileSync(join(root, 'runtime', file), 'utf8');
    return edits.filter(([from]) => source.split(from).length !== 2).map(([from]) => `${file}: ${from}`);
  });
  assert.deepEqual(stale, []);
});

test('every breakage names a test that is there', () => {
  const missing = cases.filter(({ noticedBy }) => !existsSync(join(root, 'tests/runtime', noticedBy)));
  assert.deepEqual(
    missing.map(({ promise, noticedBy }) => `${promise}: ${noticedBy}`),
    [],
  );
});
