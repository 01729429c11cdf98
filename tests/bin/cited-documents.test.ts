/** Comments and documents cite documents of this repository alone, by headings that are there. */

import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';
import { readRepositoryFile } from '../testbed/read-repository-file.ts';
import { root } from '../testbed/root.ts';
import { writtenFiles } from './repository-files.ts';

/** A document by its path, alone or in a path; not in an address on the web, and not one of many (`docs/*.md`). */
const DOCUMENT = /(?<![\w./*-]|:\/\/\S*)[\w./-]*[\w-]+\.md\b(#[\w-]+)?/g;
/** A folder that a document names in code, as `bin/gate/`. One that begins with a dot is made by a command. */
const FOLDER = /`((?:[a-z][\w-]*\/)+)`/g;
/** Matches the text after a citation of a heading: `docs/contract.md, Windows`. */
const HEADING_FOLLOWS = /^[,:] (?=[A-Z])/;
/** A document that is named by a word in capitals, as in `(WORD: Heading)` or `WORD section 4`. */
const NAMED_BY_WORD = /(?:\/\*\* |[(;] ?)[A-Z]{4,}: [A-Z][a-z]|\b[A-Z]{4,},? section \d/g;

/** The document meant by `named` in the file at `path`: from the root, or from a folder above the file. */
function documentAt(path: string, named: string): string | undefined {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const candidate = normalize(join(folder, named));
    if (!candidate.startsWith('..') && existsSync(join(root, candidate))) return candidate;
    if (folder === '.') return undefined;
  }
}

/** Folders that exist only after a command, or only in a Redis server. */
const MADE_LATER = ['node_modules/', 'bench/results/', 'appendonlydir/'];

function foldersIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !/^\.|^node_modules$/.test(entry.name))
    .flatMap(({ name }) => [join(folder, name), ...foldersIn(join(folder, name))]);
}

const folders = foldersIn(root);

/** True if a folder has this path, or ends with it. Documents name folders from the place they speak of. */
function isFolder(named: string): boolean {
  const end = `/${named.slice(0, -1)}`;
  return MADE_LATER.includes(named) || folders.some((folder) => folder.endsWith(end));
}

function headingsOf(document: string): string[] {
  const text = readRepositoryFile(document).replaceAll(/^```.*?^```/gms, '');
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading);
}

/** The anchor of a heading, as GitHub makes it. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

/** Returns the problems of the citations in one file. */
function problemsOf(path: string, source: string): string[] {
  // A citation may go on in the next line of a comment.
  const text = source.replaceAll(/\n\s*(?:\*|\/\/|--|#)? ?/g, ' ');
  const isMarkdown = path.endsWith('.md');
  const problems = [...text.matchAll(NAMED_BY_WORD)].map(
    ([words]) => `${path}: ${words} cites no file of this repository`,
  );
  // An old entry of the list of changes may name a former folder.
  if (isMarkdown && path !== 'CHANGELOG.md') {
    for (const [, folder = ''] of text.matchAll(FOLDER))
      if (!isFolder(folder)) problems.push(`${path}: ${folder} is no folder`);
  }
  for (const { 0: cited, 1: anchor, index } of text.matchAll(DOCUMENT)) {
    const document = documentAt(path, cited.replace(/#.*/, ''));
    if (document === undefined) {
      problems.push(`${path}: ${cited} is not there`);
      continue;
    }
    const headings = headingsOf(document);
    if (anchor !== undefined && !headings.some((heading) => `#${anchorOf(heading)}` === anchor))
      problems.push(`${path}: ${cited} names no heading`);
    const after = text.slice(index + cited.length, index + cited.length + 120);
    const words = after.replace(HEADING_FOLLOWS, '');
    if (!isMarkdown && words !== after && !headings.some((heading) => startsWith(words, heading)))
      problems.push(`${path}: ${document} has no heading ${words.slice(0, 40)}`);
  }
  return problems;
}

function startsWith(words: string, heading: string): boolean {
  return words.startsWith(heading) && /^(?:[),;:.'`]|$)/.test(words.slice(heading.length));
}

const planted: readonly (readonly [source: string, problem: RegExp | undefined, path?: string])[] = [
  ['See `actors/shops/turns/`, and `turns/batches/` there.', undefined, 'planted.md'],
  ['See `bin/lib/`.', /bin\/lib\/ is no folder/, 'planted.md'],
  ['See `urns/`.', /urns\/ is no folder/, 'planted.md'],
  ['/** Exact (docs/contract.md, Windows). */', undefined],
  ['/**\n * Exact (docs/contract.md,\n * Windows) and more.\n */', undefined],
  ['// See ARCHITECTURE.md and docs/decisions/001-effects-follow-the-commit.md.', undefined],
  ['/** Exact (docs/contract.md, Windowpanes). */', /has no heading Windowpanes/],
  ['/** Exact (docs/contract.md, Window). */', /has no heading Window/],
  ['/** Exact (docs/contract.md, Windows of our own). */', /has no heading Windows of our own/],
  ['/** Exact (docs/absent.md, Windows). */', /docs\/absent\.md is not there/],
  ['/** See docs/contract.md#windowpanes. */', /names no heading/],
  [`/** Exact (${'ABSENT'}: Windows). */`, /ABSENT: Wi cites no file/],
  [`/** Exact (${'ABSENT'} section 4: Windows). */`, /ABSENT section 4 cites no file/],
];

for (const [source, problem, path = 'policy/planted.ts'] of planted) {
  test(`${JSON.stringify(source)}: ${problem === undefined ? 'fine' : 'refused'}`, () => {
    const found = problemsOf(path, source).join('\n');
    if (problem === undefined) assert.equal(found, '');
    else assert.match(found, problem);
  });
}

test('every cited document and heading is there', () => {
  const files = writtenFiles().filter((path) => path !== 'tests/bin/cited-documents.test.ts');
  assert.ok(files.length > 300, 'the files were not found');
  const problems = files.flatMap((path) => problemsOf(path, readRepositoryFile(path)));
  assert.deepEqual(problems, []);
});

test('each decision of docs/decisions/README.md has its record, and each record its entry there', () => {
  const list = readRepositoryFile('docs/decisions/README.md');
  const records = readdirSync(join(root, 'docs/decisions')).filter((name) => name !== 'README.md');
  assert.deepEqual(
    records.filter((name) => !list.includes(`(${name})`)),
    [],
  );
});
