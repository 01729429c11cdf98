import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../testbed/root.ts';
import { livingMutants } from './mutants-that-live.ts';

test('each line that explains a mutant is still in its file', () => {
  const hasLine = (file: string, wanted: string): boolean =>
    readFileSync(join(root, 'policy', file), 'utf8')
      .split('\n')
      .some((line) => line.trim() === wanted);
  const stale = livingMutants.filter(({ file, before }) => before !== undefined && !hasLine(file, before));
  assert.deepEqual(
    stale.map(({ file, before }) => `${file}: ${before}`),
    [],
  );
});
