import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { imageTarget } from '../e2e/stack/image-target.ts';
import { root } from '../testbed/root.ts';

const read = (path: string): string => readFileSync(join(root, path), 'utf8');

test('the image starts the service with the flags and the thread pool of npm start', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: { start: string } };
  const { entryPoint, environment } = imageTarget('service');
  const [node, ...args] = entryPoint;
  assert.equal(node, '/usr/bin/node');
  const [pool, , ...flags] = scripts.start.split(' ');
  assert.deepEqual(args, flags);
  assert.equal(`UV_THREADPOOL_SIZE=${environment.UV_THREADPOOL_SIZE}`, pool);
});
