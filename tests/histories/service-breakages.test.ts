import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../testbed/root.ts';
import { serviceBreakages } from './service-breakages.ts';

test('every breakage of the service finds its edit in the source, once', () => {
  const stale = serviceBreakages.flatMap(({ file, edits }) => {
    const source = readFileSync(join(root, file), 'utf8');
    return edits.filter(([from]) => source.split(from).length !== 2).map(([from]) => `${file}: ${from}`);
  });
  assert.deepEqual(stale, []);
});
