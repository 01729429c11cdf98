/**
 * The documents that promise something name the test that goes red when it is broken. Each named file is there, and is
 * marked if the gate does not run it.
 */

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readRepositoryFile } from '../testbed/read-repository-file.ts';
import { root } from '../testbed/root.ts';
import { writtenFiles } from './repository-files.ts';

/** A test's file as a document writes it, alone or in a path: `lease.test.ts`, `tests/e2e/fleet/kill.test.ts`. */
const NAMED = /[\w./-]*[\w-]+\.(?:test|container-test|chart-test|drill-test)\.ts/g;

/** A test's file as code or as a link, and its mark if it has one: (nightly), or (nightly, "its title"). */
const MARKED =
  /`([\w./-]+\.(?:test|container-test|chart-test|drill-test)\.ts)`(?:\]\(\S+?\))?(\s+\(nightly[,)])?/g;

/** The documents, and where a file lies of which they name no folder. */
const DOCUMENTS = [
  ['docs/promises.md', 'docs'],
  ['CONTRIBUTING.md', 'tests'],
  ['docs/changing.md', 'tests'],
  ['docs/chat-client.md', 'tests/actors/sessions'],
  ['docs/contract.md', 'tests'],
  ['docs/sizing.md', 'tests'],
  ['runtime/README.md', 'tests/runtime'],
] as const;

for (const [document, folder] of DOCUMENTS) {
  test(`${document}: every test it names exists, and it names some`, () => {
    const named = new Set(readRepositoryFile(document).match(NAMED));
    assert.ok(named.size > 0, 'no test is named');
    const missing = [...named].filter(
      (name) => !existsSync(join(root, name)) && !existsSync(join(root, folder, name)),
    );
    assert.deepEqual(missing, []);
  });
}

test('tests/nightly-tests.txt: every test it names exists', () => {
  const named = readRepositoryFile('tests/nightly-tests.txt').trim().split('\n');
  assert.deepEqual(
    named.filter((name) => !name.endsWith('.test.ts') || !existsSync(join(root, name))),
    [],
  );
});

/** The documents that mark nightly tests, the parts that do, and where a file lies of which they name no folder. */
const MARKING = [
  ['docs/promises.md', /^- .*/ms, 'docs'],
  ['docs/changing.md', /^.*/ms, 'tests'],
  ['runtime/README.md', /^## Promises.*?(?=^## )/ms, 'tests/runtime'],
] as const;

for (const [document, part, folder] of MARKING) {
  test(`${document}: the tests that only the nightly run has are marked, and no others`, () => {
    const nightly = new Set(readRepositoryFile('tests/nightly-tests.txt').split('\n'));
    const [text = ''] = part.exec(readRepositoryFile(document)) ?? [];
    const named = [...text.matchAll(MARKED)].map(([, name = '', mark]) => {
      const path = existsSync(join(root, name)) ? name : join(folder, name);
      const isNightly = nightly.has(path) || !path.endsWith('.test.ts');
      return { name, isNightly, isMarked: mark !== undefined };
    });
    assert.ok(
      named.some(({ isMarked }) => isMarked),
      'no test is marked',
    );
    assert.deepEqual(
      named.filter(({ isNightly, isMarked }) => isNightly !== isMarked),
      [],
    );
  });
}

test('docs/folders.md: its table of tests says who runs the tests of each folder', () => {
  const [, section = ''] = readRepositoryFile('docs/folders.md').split(/^## Tests$/m);
  const rows = [...section.matchAll(/^\| `([\w-]+)\/`.*\| (gate|nightly|both|) *\|$/gm)];
  assert.ok(rows.length > 20, `${rows.length} folders`);
  assert.equal(rows.length, section.match(/^\| `[\w-]+\/`/gm)?.length);
  const nightly = new Set(readRepositoryFile('tests/nightly-tests.txt').split('\n'));
  for (const [, folder = '', runner = ''] of rows) {
    const tests = writtenFiles(join(root, 'tests', folder)).filter((path) => path.endsWith('.test.ts'));
    const hasGate = tests.some((path) => !nightly.has(path));
    const hasNightly = tests.some((path) => nightly.has(path));
    if (hasGate || hasNightly) assert.equal(runner !== 'nightly', hasGate, `${folder} is run by ${runner}`);
    if (hasNightly) assert.notEqual(runner, 'gate', `${folder} has nightly tests`);
  }
});

test('docs/promises.md: every promise links its test', () => {
  const promises = readRepositoryFile('docs/promises.md').split(/^- /m).slice(1);
  assert.ok(promises.length > 40, `${promises.length} promises`);
  assert.deepEqual(
    promises.filter((promise) => promise.match(NAMED) === null),
    [],
  );
});

test('runtime/README.md: every title that it quotes is that of a test', () => {
  const readme = readRepositoryFile('runtime/README.md').replaceAll(/\s+/g, ' ');
  const [, promises = ''] = /## Promises(.*)## How one writer/.exec(readme) ?? [];
  const quoted = [...promises.matchAll(/"([^"]+)"(?=[,)])/g)].map(([, title = '']) => title);
  assert.ok(quoted.length > 20, `${quoted.length} titles`);
  const tests = writtenFiles(join(root, 'tests/runtime')).map(readRepositoryFile);
  const isThere = (title: string): boolean =>
    title.split('…').every((part) => tests.some((source) => source.includes(part.trim())));
  assert.deepEqual(
    quoted.filter((title) => !isThere(title)),
    [],
  );
});
