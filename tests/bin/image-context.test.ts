/** The image can be built: `.dockerignore` lets in all that the Dockerfile copies. */

import assert from 'node:assert/strict';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readRepositoryFile } from '../testbed/read-repository-file.ts';
import { root } from '../testbed/root.ts';

/** The sources of the COPY instructions of all targets. */
const sources = [...readRepositoryFile('Dockerfile').matchAll(/^COPY (?!--from=)(.+)$/gm)].flatMap(
  ([, words = '']) => words.split(' ').slice(0, -1),
);

/**
 * Patterns in their order; the last one that matches decides. Source: docs.docker.com, Dockerfile reference,
 * .dockerignore.
 */
const patterns = readRepositoryFile('.dockerignore')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => ({
    lets: line.startsWith('!'),
    form: new RegExp(
      `^${line
        .replace(/^!/, '')
        .replaceAll('.', '\\.')
        .replaceAll(/\*+/g, (stars) => (stars === '*' ? '[^/]*' : '.*'))}$`,
    ),
  }));

const isLetIn = (path: string): boolean => patterns.findLast(({ form }) => form.test(path))?.lets ?? true;

/** The files of a folder, or the file itself, by path from the root. */
function filesOf(path: string): string[] {
  if (!statSync(join(root, path)).isDirectory()) return [path];
  return readdirSync(join(root, path)).flatMap((name) => filesOf(`${path}/${name}`));
}

test('the Dockerfile copies files of the repository', () => assert.ok(sources.length > 5));

for (const source of new Set(sources)) {
  test(`.dockerignore lets in ${source}, which the Dockerfile copies`, () => {
    assert.deepEqual(
      filesOf(source).filter((path) => !isLetIn(path)),
      [],
    );
  });
}

test('.dockerignore keeps out secrets, packages and what tests leave', () => {
  for (const path of [
    '.env',
    '.data/dev.json',
    '.git/config',
    'node_modules/ws/index.js',
    'tests/testbed/root.ts',
  ])
    assert.ok(!isLetIn(path), path);
});
