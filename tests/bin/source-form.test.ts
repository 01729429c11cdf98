/** Rules of form that the linter has no rule for (CONTRIBUTING.md, Rules that the gate checks). */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY_MS, MINUTE_MS } from '../../runtime/durations.ts';
import { readRepositoryFile } from '../testbed/read-repository-file.ts';
import { writtenFiles } from './repository-files.ts';

/** An import that none follows, the comment after it, and the first line after that. */
const AFTER_IMPORTS =
  /^import [^;]*;\n+(?<comment>(?:\/\/.*\n)+|\/\*(?:(?!\*\/)[\s\S])*\*\/\n)(?!\n*import )(?<next>.*)/m;

const DECLARATION = /^(?:export|const|let|type|interface|class|function|async function) /;

/**
 * Returns the comment about a whole file that is after its imports. Comments that only name types are none. Before a
 * declaration it is one if it is no docstring, and before a call if it has the form of a docstring.
 */
function fileCommentAfterImports(source: string): string | undefined {
  const { comment, next = '' } = AFTER_IMPORTS.exec(source)?.groups ?? {};
  if (comment === undefined || /^\/\*\*(?:\s|\*)*@(?:import|template|typedef)\b/.test(comment))
    return undefined;
  const isDocstring = comment.startsWith('/**');
  return next === '' || isDocstring !== DECLARATION.test(next) ? comment.trim() : undefined;
}

/** A number after a name of milliseconds, and a minute, an hour or a day in a product or a quotient. */
const NUMBERS = [
  /\b\w*(?:Ms|_MS)\??(?:: number)?(?: =|:| \?\?) (?<written>\d[\d_]*)(?![\w.])/g,
  /[*/] (?<written>60_000|3_600_000|86_400_000)(?!\w)/g,
  /(?<!\w)(?<written>60_000|3_600_000|86_400_000) \*/g,
];

/** A longer one is a time since the Unix epoch. */
const LONGEST_DURATION_MS = 1_000 * DAY_MS;

/** Returns the numbers of a line that are durations of whole minutes, as written there. */
function bareMinutes(line: string): string[] {
  if (/^\s*(?:\*|\/[/*])/.test(line)) return [];
  return NUMBERS.flatMap((form) => [...line.matchAll(form)])
    .map((found) => found.groups?.written ?? '')
    .filter((written) => {
      const ms = Number(written.replaceAll('_', ''));
      return ms > 0 && ms < LONGEST_DURATION_MS && ms % MINUTE_MS === 0;
    });
}

/** The most columns of a line in a comment, as in documents. Biome wraps code, and no comments. */
const MOST_COLUMNS = 120;

/** Returns the numbers of the comment lines that are too long. Rows of tables and types in tags cannot be wrapped. */
function longComments(source: string): number[] {
  return source.split('\n').flatMap((line, index) => {
    const text = /^\s*(?:\/\/|\/?\*+)(.*)/.exec(line)?.[1]?.trim();
    const isLong = text !== undefined && !/^[|@]/.test(text) && [...line].length > MOST_COLUMNS;
    return isLong ? [index + 1] : [];
  });
}

/**
 * Returns the numbers of the lines whose `fc.assert` does not take its runs from `propertyRuns`, so that `TEST_SEED`
 * does not repeat them. The formatter puts the end of a call of several lines below its beginning.
 */
function unseededProperties(source: string): number[] {
  const names = [...source.matchAll(/const (\w+) = propertyRuns\(/g)].map(([, name]) => `${name}\\b`);
  const isSeeded = new RegExp(`\\b(?:${['propertyRuns\\(', ...names].join('|')})`);
  const calls = source.matchAll(/^(?<indent> *)(?:.*[^\w\n])?fc\.assert\((?:.*;$|[\s\S]*?\n\k<indent>\))/gm);
  return [...calls]
    .filter(([call]) => !isSeeded.test(call))
    .map(({ index }) => source.slice(0, index).split('\n').length);
}

/** `npm run client-types` writes it. */
const GENERATED = 'client/src/operations.ts';

/** These import nothing of the service; the constants themselves are in the last. */
const WITHOUT_CONSTANTS = /^(?:client|simulator|examples)\/|^runtime\/durations\.ts$/;

const sources = writtenFiles()
  .filter((path) => /\.(?:ts|m?js)$/.test(path))
  .map((path) => ({ path, source: readRepositoryFile(path) }));

test('a comment about a file is found after its imports, and one about a declaration or a call is not', () => {
  const found = (rest: string): boolean =>
    fileCommentAfterImports(`import { a } from './a.ts';\nimport {\n  b,\n} from './b.ts';\n\n${rest}`) !==
    undefined;
  assert.ok(found('// Two lines\n// about the file.\nconst one = 1;\n'));
  assert.ok(found('// About the file.\n\nexport const one = 1;\n'));
  assert.ok(found('/**\n * About the file.\n */\n\n/** One. */\nconst one = 1;\n'));
  assert.ok(found("/** About the file. */\ntest('one', () => undefined);\n"));
  assert.ok(found('/* About the file. */\nconst one = 1;\n'));
  assert.ok(!found('/** One. */\nconst one = 1;\n'));
  assert.ok(!found('/** One. */\nexport default one;\n'));
  assert.ok(!found('// Before anything else runs.\nstart();\n'));
  assert.ok(!found("/** @import { Shop } from './shops.js' */\n\nconst one = 1;\n"));
  assert.ok(!found("// Before anything is replaced.\nimport { c } from './c.ts';\n\nconst one = 1;\n"));
});

test('a comment about a whole file is before its imports', () => {
  const foundPaths = sources.flatMap(({ path, source }) => {
    const comment = fileCommentAfterImports(source);
    return comment === undefined ? [] : [`${path}: ${comment}`];
  });
  assert.ok(sources.length > 1_500);
  assert.deepEqual(foundPaths, []);
});

test('a comment about a file has the form of a docstring', () => {
  const foundPaths = sources.filter(({ source }) => /^\/\*(?!\*)/m.test(source)).map(({ path }) => path);
  assert.deepEqual(foundPaths, []);
});

test('a long line is found in each form of a comment, and in code, tables and tags it is not', () => {
  const long = 'word '.repeat(25);
  assert.deepEqual(
    longComments(`// ${long}\n/** ${long} */\n/**\n * ${long}\n */\n  // ${'a'.repeat(115)}`),
    [1, 2, 4],
  );
  assert.deepEqual(
    longComments(`const a = '${long}'; // b\n * | ${long} |\n/** @param {{ ${long} }} a */`),
    [],
  );
});

test('a property test without the seed of all is found, and one with it is not', () => {
  const property = '  fc.property(fc.nat(), (count) => {\n    assert.ok(run(count));\n  }),';
  const unseeded = (rest: string): number[] =>
    unseededProperties(`const runs = propertyRuns(context, 5);\n${rest}`);
  assert.deepEqual(unseeded(`fc.assert(\n${property}\n);`), [2]);
  assert.deepEqual(unseeded(`await fc.assert(\n${property}\n  { numRuns: 300, seed },\n);\nuse(runs);`), [2]);
  assert.deepEqual(
    unseeded('fc.assert(property);\nfc.assert(property, runs);\nfc.assert(property);'),
    [2, 4],
  );
  assert.deepEqual(unseeded(`await fc.assert(\n${property}\n  propertyRuns(context, 300),\n);`), []);
  assert.deepEqual(
    unseeded(`fc.assert(\n${property}\n  { ...propertyRuns(context, 3), endOnFailure: true },\n);`),
    [],
  );
  assert.deepEqual(unseeded(`fc.assert(\n${property}\n  runs,\n);`), []);
});

test('`TEST_SEED` repeats each property test', () => {
  const tests = sources.filter(
    ({ path }) => path !== 'tests/bin/source-form.test.ts' && path.endsWith('.ts'),
  );
  const foundLines = tests.flatMap(({ path, source }) =>
    unseededProperties(source).map((line) => `${path}:${line}`),
  );
  assert.ok(tests.filter(({ source }) => source.includes('fc.assert(')).length > 20);
  assert.deepEqual(foundLines, []);
});

test(`a comment line has at most ${MOST_COLUMNS} columns`, () => {
  const foundLines = sources
    .filter(({ path }) => path !== GENERATED)
    .flatMap(({ path, source }) => longComments(source).map((line) => `${path}:${line}`));
  assert.deepEqual(foundLines, []);
});

test('a duration of whole minutes is found where a name or a product shows it, and other numbers are not', () => {
  for (const line of [
    'const LONGEST_MS = 600_000;',
    '  preparingMs: 240_000,',
    'limitMs = 60_000): void {',
    'retryMs: number = 60_000',
    'options.timeoutMs ?? 60_000,',
    'const LONGEST_MS = 6 * 60_000;',
    'nowMs - 60_000 * index',
    'passedMs / 60_000',
  ])
    assert.equal(bareMinutes(line).length, 1, line);
  for (const line of [
    'const WAIT_MS = 5_000;',
    'const WAIT_MS = 90_000;',
    'const NOW_MS = 1_800_000_000_000;',
    'const LONGEST_MS = 10 * MINUTE_MS;',
    'maxBytes: 60_000,',
    ' * `leaseMs: 60_000`',
    'leaseMs: 0,',
  ])
    assert.deepEqual(bareMinutes(line), [], line);
});

test('durations of whole minutes, hours and days use the constants of `runtime/durations.ts`', () => {
  const foundLines = sources
    .filter(({ path }) => path.endsWith('.ts') && path !== 'tests/bin/source-form.test.ts')
    .filter(({ path }) => !WITHOUT_CONSTANTS.test(path))
    .flatMap(({ path, source }) =>
      source
        .split('\n')
        .flatMap((line, index) =>
          bareMinutes(line).length === 0 ? [] : [`${path}:${index + 1}: ${line.trim()}`],
        ),
    );
  assert.deepEqual(foundLines, []);
});
