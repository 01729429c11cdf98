import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRepositoryFile } from '../testbed/read-repository-file.ts';
import { serviceBreakages } from './service-breakages.ts';

test('every breakage of the service finds its edit in the source, once', () => {
  const stale = serviceBreakages.flatMap(({ file, edits }) => {
    const source = readRepositoryFile(file);
    return edits.filter(([from]) => source.split(from).length !== 2).map(([from]) => `${file}: ${from}`);
  });
  assert.deepEqual(stale, []);
});
