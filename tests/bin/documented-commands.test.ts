/**
 * Every command in a document can be run from a clone. It exists, and the gate or `bin/nightly` runs it, at least far
 * enough to show that it starts. The exceptions are below with their reasons.
 */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { readRepositoryFile } from '../testbed/read-repository-file.ts';
import { root } from '../testbed/root.ts';

const { scripts } = JSON.parse(readRepositoryFile('package.json')) as { scripts: Record<string, string> };

/** The folders of documents. `bench/dist` holds copies. */
const FOLDERS = [
  'docs',
  'docs/decisions',
  'bench',
  'bench/policy',
  'runtime',
  'simulator',
  'client',
  'examples',
  'http/articles/texts',
];
const documents = ['', ...FOLDERS].flatMap((folder) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md') && name !== 'CHANGELOG.md')
    .map((name) => join(folder, name)),
);
const text = documents.map(readRepositoryFile).join('\n');
const nightly = readRepositoryFile('bin/nightly');

/** Scripts that neither the gate nor bin/nightly starts by that name, and who does. */
const SCRIPTS_ELSEWHERE: Readonly<Record<string, string>> = {
  check: 'is the gate',
  'check:nightly': 'is bin/nightly; its own --smoke is how it is tried',
  'freeze-document': 'is the last step of a release; released-documents.test.ts wants its result',
  licences: 'writes a document that licences.test.ts compares',
  build: 'bin/image builds with it, and the tests of the start flags compile the same program',
  start: 'tests/bin/start-flags.test.ts compares its flags with the image, which the container tests start',
  test: 'is bin/test',
  'test:files': 'runs the tests from the sources, as bin/nightly does under npm run coverage',
  fix: 'is the linter of check:lint with --write, which would change the files that are being checked',
  dev: 'is bin/dev: tests/service/dev/dev.test.ts',
  simulator: 'is bin/simulator: every live bench starts the same program',
  settings: 'tests/bin/documented-settings.test.ts compares what it would write with what is there',
  'client-types': 'tests/client/written-types.test.ts compares what it would write with what is there',
  'lock-platforms': 'tests/bin/server-package.test.ts compares what it would write with what is there',
};

/** Programs of `bin/` that are run by the gate's tests, by the gate itself, or by bin/nightly. */
const PROGRAMS_ELSEWHERE: Readonly<Record<string, string>> = {
  dev: 'tests/service/dev/dev.test.ts',
  test: 'prepares, then is the gate',
  check: 'is the gate',
  nightly: 'its own --smoke is how it is tried',
  prepare: 'tests/bin/prepare.test.ts',
  'prepare-browser': 'bin/prepare-all runs it',
  'prepare-program': 'bin/prepare-all runs it',
  image: 'npm run test:containers begins with it, in bin/nightly',
  simulator: 'every live bench starts the same program',
};

/** `node` and `npx tsx` are started with these by tests of the gate. */
const GATE_PROGRAMS = [/^tests\/.*\.test\.ts$/, /^examples\/.*\.ts$/];

/** Tools that `npx` starts, by the step of the gate that runs them. */
const TOOLS: Readonly<Record<string, string>> = { tsc: 'check:types', biome: 'check:lint', tsx: 'the tests' };

const named = (pattern: RegExp): string[] => [
  ...new Set([...text.matchAll(pattern)].map(([, name = '']) => name)),
];
const isRunAtNight = (command: string): boolean => new RegExp(`['"]${command}(?:[ '"]|$)`, 'm').test(nightly);

for (const name of named(/\bnpm (?:run )?(?:--silent )?((?<=run (?:--silent )?)[\w:-]+|start\b|test\b)/g)) {
  test(`npm run ${name}, which a document names, exists and is run by the gate or at night`, () => {
    assert.ok(name in scripts, `package.json has no script ${name}`);
    const isRun = name.startsWith('check:') || name in SCRIPTS_ELSEWHERE || isRunAtNight(`npm run ${name}`);
    assert.ok(isRun, `neither the gate nor bin/nightly runs ${name}`);
  });
}

for (const name of named(/(?<![\w/])bin\/([a-z][a-z0-9-]*)(?![\w.-]*[./])/g)) {
  test(`bin/${name}, which a document names, can be run, and somebody runs it`, () => {
    accessSync(resolve(root, 'bin', name), constants.X_OK);
    const isRun = name in PROGRAMS_ELSEWHERE || nightly.includes(`bin/${name}`);
    assert.ok(isRun, `neither the gate nor bin/nightly runs bin/${name}`);
  });
}

for (const path of named(/\b(?:node --import tsx(?: --test)?|npx tsx) ([\w./*-]+\.ts)/g)) {
  test(`node ${path}, which a document names, is there, and somebody runs it`, () => {
    const folder = resolve(root, path.slice(0, path.lastIndexOf('/')));
    const isThere = path.includes('*')
      ? readdirSync(folder).some((name) => name.endsWith('.test.ts'))
      : existsSync(resolve(root, path));
    assert.ok(isThere, `there is no ${path}`);
    const isRun = GATE_PROGRAMS.some((pattern) => pattern.test(path)) || nightly.includes(path);
    assert.ok(isRun, `neither the gate nor bin/nightly runs ${path}`);
  });
}

for (const tool of named(/\bnpx ([a-z]+)\b/g)) {
  test(`npx ${tool}, which a document names, is a tool of the gate`, () => {
    assert.ok(tool in TOOLS, `the gate runs no ${tool}`);
    accessSync(resolve(root, 'node_modules/.bin', tool), constants.X_OK);
  });
}

test('every bench that a document names or a file declares exists, and bin/nightly starts all there are', () => {
  const listed = spawnBench('nobody-called-so');
  const benches = /there are (.*)/.exec(listed)?.[1]?.split(', ') ?? [];
  assert.ok(benches.length > 10, listed);
  const declared = readdirSync(resolve(root, 'bench/benches')).flatMap((file) =>
    [...readRepositoryFile(`bench/benches/${file}`).matchAll(/^ {2,4}name: '([\w-]+)',$/gm)].map(
      ([, name = '']) => name,
    ),
  );
  assert.ok(declared.length > 20);
  assert.deepEqual(
    declared.filter((name) => !benches.includes(name)),
    [],
  );
  const documented = named(/npm run bench -- ((?:[a-z][a-z-]* ?)+)/g).flatMap((words) =>
    words.trim().split(' '),
  );
  assert.deepEqual(
    documented.filter((name) => !benches.includes(name)),
    [],
  );
  const others = /others='(.*)'/.exec(nightly)?.[1]?.split(' ') ?? [];
  // The list of the benches that run without a name ends where those begin that need one.
  const [, main = ''] =
    /^`npm run bench` runs these:$([\s\S]*?)^These run by name/m.exec(
      readRepositoryFile('bench/README.md'),
    ) ?? [];
  const started = (name: string): boolean =>
    others.includes(name) ||
    nightly.includes(`'npm run bench -- ${name} `) ||
    new RegExp(`^- \`${name}\`:`, 'm').test(main);
  assert.deepEqual(
    benches.filter((name) => !started(name)),
    [],
  );
});

test('all lines of bin/nightly are shell, and name existing files and scripts', () => {
  execFileSync('bash', ['-n', resolve(root, 'bin/nightly')]);
  const commands = [...nightly.matchAll(/^ {2}['"](npm run|node --import tsx|bin\/)(.*)['"]$/gm)];
  assert.ok(commands.length > 20, 'the lines are no longer understood');
  for (const [, kind = '', rest = ''] of commands) {
    const [command = ''] = rest.trim().split(' ');
    if (kind === 'npm run') assert.ok(command in scripts, command);
    else assert.ok(existsSync(resolve(root, kind === 'bin/' ? `bin/${command}` : command)), command);
  }
});

test('a mutant is made, and a test notices it', () => {
  const words = [
    '--import',
    'tsx',
    'tests/policy/mutants.ts',
    '--only=number-forms',
    '--first=1',
    '--jobs=1',
  ];
  const said = execFileSync(process.execPath, words, { cwd: root, encoding: 'utf8' });
  assert.match(said, /^1 mutants of 1 files, 0 of them listed as living\n1 killed, 0 listed as living, 0 to/);
});

/** Returns the output of bench/run.ts for an unknown name. */
function spawnBench(name: string): string {
  try {
    return execFileSync(process.execPath, ['--import', 'tsx', 'bench/run.ts', name], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  } catch (error) {
    return (error as { stderr: string }).stderr;
  }
}
