import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../root.ts';
import { cases } from './breakage-cases.ts';
import { effectBeforeCommit, withoutFence } from './broken-runtime.ts';

test('every breakage finds its edit in the source, once', () => {
  const stale = [...cases, withoutFence, effectBeforeCommit].flatMap(({ layer = 'runtime', file, edits }) => {
    const source = readFileSync(join(root, layer, file), 'utf8');
    return edits.filter(([from]) => source.split(from).length !== 2).map(([from]) => `${file}: ${from}`);
  });
  assert.deepEqual(stale, []);
});

test('every breakage names a test that is there', () => {
  const missing = cases.filter(
    ({ layer = 'runtime', noticedBy }) => !existsSync(join(root, 'tests', layer, noticedBy)),
  );
  assert.deepEqual(
    missing.map(({ promise, noticedBy }) => `${promise}: ${noticedBy}`),
    [],
  );
});
