/** Every command that a document names exists, and one that the gate does not run is run at night. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { accessSync, constants, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { test } from 'node:test';

const root = resolve(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(resolve(root, path), 'utf8');
const DOCUMENTS = [
  'README.md',
  'bench/README.md',
  'runtime/README.md',
  'simulator/README.md',
  'CONTRIBUTING.md',
];
const text = DOCUMENTS.map(read).join('\n');
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };

/** Run by the gate, or by everybody who looks at the image or the service. */
const ELSEWHERE = new Set([
  'build',
  'check',
  'check:nightly',
  'coverage',
  'fix',
  'dev',
  'simulator',
  'import-rules',
]);

const named = new Set([...text.matchAll(/\bnpm run ([\w:-]+)/g)].map(([, name = '']) => name));
for (const name of named) {
  test(`npm run ${name}, which a document names, exists and is run by the gate or at night`, () => {
    assert.ok(name in scripts, `package.json has no script ${name}`);
    const nightly = /for script in (.*); do/.exec(read('bin/nightly'))?.[1]?.split(' ') ?? [];
    const isRun =
      ELSEWHERE.has(name) || name.startsWith('check:') || nightly.includes(name.split(':flame')[0] ?? '');
    assert.ok(isRun, `neither the gate nor bin/nightly runs ${name}`);
  });
}

const programs = new Set(
  [...text.matchAll(/(?<![\w/])bin\/([a-z-]+)(?![\w.-]*\.)/g)].map(([, name = '']) => name),
);
for (const name of programs) {
  test(`bin/${name}, which a document names, can be run`, () => {
    accessSync(resolve(root, 'bin', name), constants.X_OK);
  });
}

test('one mutant is made, and noticed', () => {
  const words = [
    '--import',
    'tsx',
    'tests/policy/mutants.ts',
    '--only=number-forms',
    '--first=1',
    '--jobs=1',
  ];
  const said = execFileSync(process.execPath, words, { cwd: root, encoding: 'utf8' });
  assert.match(said, /^1 mutants of 1 files\n1 killed, 0 live/);
});
