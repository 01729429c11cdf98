import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { readRepositoryFile } from '../testbed/read-repository-file.ts';
import { root } from '../testbed/root.ts';
import { cases } from './breakage-cases.ts';
import { brokenRuntime, effectBeforeCommit, withoutFence } from './broken-runtime.ts';

test('every breakage finds its edit in the source, once', () => {
  const stale = [...cases, withoutFence, effectBeforeCommit].flatMap(({ layer = 'runtime', file, edits }) => {
    const source = readRepositoryFile(`${layer}/${file}`);
    return edits.filter(([from]) => source.split(from).length !== 2).map(([from]) => `${file}: ${from}`);
  });
  assert.deepEqual(stale, []);
});

test('every breakage uses members that exist, so that it breaks a promise and nothing else', () => {
  const unknownNames = [...cases, withoutFence, effectBeforeCommit].flatMap(
    ({ layer = 'runtime', file, edits }) => {
      const known = memberNames(layer);
      const used = edits.flatMap(([, to]) => [...to.matchAll(/\.#?(\w+)/g)].map(([, name = '']) => name));
      return used.filter((name) => !known.has(name)).map((name) => `${file}: ${name}`);
    },
  );
  assert.deepEqual(unknownNames, []);
});

test('every breakage names a test that is there', () => {
  const missingCases = cases.filter(
    ({ layer = 'runtime', noticedBy }) => !existsSync(join(root, 'tests', layer, noticedBy)),
  );
  assert.deepEqual(
    missingCases.map(({ promise, noticedBy }) => `${promise}: ${noticedBy}`),
    [],
  );
});

for (const [layer, file] of [
  ['runtime', 'limits.ts'],
  ['actors', 'failure.ts'],
] as const) {
  test(`a copy of ${layer} has every file that its tests import`, () => {
    const copy = brokenRuntime({ layer, file, edits: [] });
    try {
      const folder = join('tests', layer);
      const imported = readdirSync(join(copy.directory, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts'))
        .flatMap((name) => importsOf(join(copy.directory, folder, name)));
      assert.ok(imported.length > 50, `${imported.length} imports`);
      assert.deepEqual(
        imported.filter((path) => !existsSync(path)),
        [],
      );
    } finally {
      copy.remove();
    }
  });
}

/** Returns the paths of the files that a file imports by a relative path. */
function importsOf(file: string): string[] {
  const foundIterator = readFileSync(file, 'utf8').matchAll(/ from '(\.[^']+)'/g);
  return [...foundIterator].map(([, path = '']) => join(dirname(file), path));
}

const COMMENT = /\/\*[\s\S]*?\*\/|\/\/.*$/gm;
/** A name behind a dot, or in front of parameters or a type. */
const MEMBER = /(?<=[.#])\w+|\w+(?=\(|\??:)/g;

/** Returns the names of all members in the sources of a layer. */
function memberNames(layer: string): ReadonlySet<string> {
  const directory = join(root, layer);
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' });
  return new Set(
    files
      .filter((name) => name.endsWith('.ts'))
      .flatMap(
        (name) => readFileSync(join(directory, name), 'utf8').replace(COMMENT, '').match(MEMBER) ?? [],
      ),
  );
}
