import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

test('the image starts the service with the flags of npm start', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: { start: string } };
  const [, entryPoint = '[]'] = /^ENTRYPOINT (.*)$/m.exec(read('Dockerfile')) ?? [];
  const [node, ...args] = JSON.parse(entryPoint) as string[];
  assert.equal(node, '/usr/bin/node');
  assert.deepEqual(args, scripts.start.split(' ').slice(1));
});
