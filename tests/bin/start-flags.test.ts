import assert from 'node:assert/strict';
import { test } from 'node:test';
import { imageTarget } from '../e2e/stack/image-target.ts';
import { readRepositoryFile } from '../testbed/read-repository-file.ts';

test('the image starts the service with the flags and the thread pool of npm start', () => {
  const { scripts } = JSON.parse(readRepositoryFile('package.json')) as { scripts: { start: string } };
  const { entryPoint, environment } = imageTarget('service');
  const [node, ...args] = entryPoint;
  assert.equal(node, '/usr/bin/node');
  const [pool, , ...flags] = scripts.start.split(' ');
  assert.deepEqual(args, flags);
  assert.equal(`UV_THREADPOOL_SIZE=${environment.UV_THREADPOOL_SIZE}`, pool);
});
