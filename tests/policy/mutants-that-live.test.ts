import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRepositoryFile } from '../testbed/read-repository-file.ts';
import { livingMutants } from './mutants-that-live.ts';

test('each line that explains a mutant is still in its file', () => {
  const hasLine = (file: string, wanted: string): boolean =>
    readRepositoryFile(`policy/${file}`)
      .split('\n')
      .some((line) => line.trim() === wanted);
  const stale = livingMutants.filter(({ file, before }) => before !== undefined && !hasLine(file, before));
  assert.deepEqual(
    stale.map(({ file, before }) => `${file}: ${before}`),
    [],
  );
});
