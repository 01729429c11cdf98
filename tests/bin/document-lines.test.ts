/** Lines of documents are short enough to be read, and to be compared, in a terminal. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRepositoryFile } from '../testbed/read-repository-file.ts';
import { writtenFiles } from './repository-files.ts';

const MOST_COLUMNS = 120;

/** `npm run licences` writes it. */
const GENERATED = 'docs/licences.md';

/** Tests and the console read these lists: one entry, one line. */
const LISTS = ['docs/metrics.md', 'docs/settings.md'];

/** Returns the numbers of the long lines. Tables, code and the targets of links cannot be wrapped. */
function longLines(path: string, source: string): number[] {
  let isCode = false;
  return source.split('\n').flatMap((line, index) => {
    const isFence = /^\s*(?:```|~~~)/.test(line);
    if (isFence) isCode = !isCode;
    const isWhole = isCode || isFence || /^\s*(?:\||\[[^\]]+\]: )/.test(line);
    if (isWhole || (LISTS.includes(path) && line.startsWith('- `'))) return [];
    const text = line.replaceAll(/\]\([^)]*\)/g, ']');
    return [...text].length > MOST_COLUMNS ? [index + 1] : [];
  });
}

const LONG = 'word '.repeat(25);

const planted: readonly (readonly [path: string, source: string, lines: readonly number[]])[] = [
  ['README.md', `# A\n\n${LONG}\n${LONG.slice(0, 120)}`, [3]],
  ['README.md', `| ${LONG} |\n\n\`\`\`sh\n${LONG}\n\`\`\`\n${LONG}\n[a]: ${LONG}`, [6]],
  ['README.md', `[word](${LONG})\n[${LONG}](README.md)`, [2]],
  ['README.md', `- \`${LONG}\``, [1]],
  ['docs/metrics.md', `- \`msgapi\`: ${LONG}\n${LONG}`, [2]],
];

for (const [path, source, lines] of planted) {
  test(`${path}: ${JSON.stringify(source).slice(0, 70)}: ${lines.length} long`, () => {
    assert.deepEqual(longLines(path, source), lines);
  });
}

test(`each line of a document has at most ${MOST_COLUMNS} columns`, () => {
  const documents = writtenFiles().filter((path) => path.endsWith('.md') && path !== GENERATED);
  assert.ok(documents.length > 30, 'the documents were not found');
  const problems = documents.flatMap((path) =>
    longLines(path, readRepositoryFile(path)).map((line) => `${path}:${line}`),
  );
  assert.deepEqual(problems, []);
});
