/**
 * Sentences of comments and documents are short, and begin with their subject (CONTRIBUTING.md, Rules that the gate
 * checks).
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRepositoryFile } from '../testbed/read-repository-file.ts';
import { writtenFiles } from './repository-files.ts';

/** A piece of code, a quotation and an address are one word each. */
const MOST_WORDS = 25;

/** Words that hide the subject if they come first. */
const HIDES_SUBJECT = /^[^\p{L}\p{N}`]*(?:Of|As|The same|What|Who|Which)\b/u;

/** "The own queue" does not say whose queue it is. */
const OWNERLESS = /\bthe own\b/i;

/** A sentence: up to its end, which is not that of an abbreviation, or to the end of its paragraph. */
const SENTENCE = /\S[\s\S]*?(?:(?<!\b(?:e\.g|i\.e|etc|vs|cf))[.!?][)"'”\]*_]*(?=\s|$)|$)/g;

/** The marker of an item in a list. It starts a paragraph, even if no blank line is before it. */
const MARKER = /^\s*(?:[-*+]|\d+\.)\s/;

/** A file whose comments are texts of the API's document. */
const GENERATED = 'client/src/operations.ts';

/** A folder whose comments have types of JSDoc, which are no prose. */
const CONSOLE = 'http/console/app/';

/** Returns the comments of TypeScript, line by line. A line without one is empty. */
function commentLines(source: string): string[] {
  let isOpen = false;
  return source.split('\n').map((line) => {
    const block = isOpen ? line.replace(/^\s*\*(?!\/)/, '') : /^\s*\/\*+(.*)$/.exec(line)?.[1];
    if (block === undefined) return /^(?:\s*|.*[;,{([] (?=[^'"`]*$))\/\/(.*)$/.exec(line)?.[1] ?? '';
    isOpen = !block.includes('*/');
    return block.replace(/\*\/.*/, '');
  });
}

/** Empties the lines that are no prose: code, tables, headings, HTML and the targets of links. */
function proseLines(lines: readonly string[]): string[] {
  let isCode = false;
  return lines.map((line) => {
    const isFence = /^\s*(?:```|~~~)/.test(line);
    if (isFence) isCode = !isCode;
    return isCode || isFence || /^\s*(?:\||#+ |<|\[[^\]]+\]: )/.test(line) ? '' : line;
  });
}

/** Makes code, quotations and addresses one word each, and blanks markers and the targets of links. No place moves. */
function masked(text: string): string {
  const fill = (filler: string) => (found: string) => filler.repeat(found.length);
  return text
    .replace(MARKER, fill(' '))
    .replaceAll(/`[^`]*`/g, fill('x'))
    .replaceAll(/"[^"]*?(?=[.!?]?")/g, fill('x'))
    .replaceAll(/\](?:\([^)\s]*\)|\[[^\]]*\])/g, fill(' '))
    .replaceAll(/https?:\/\/[^\s)>]*[^\s)>.,;:]/g, fill('x'));
}

/**
 * Returns the lines of a document, or of a file's comments. Outside of TypeScript and JavaScript these are whole lines.
 * A line with three spaces after its sign is no prose, but a command or a table. So is a line of a script's arguments.
 */
function writtenLines(path: string, source: string): string[] {
  if (/\.(?:ts|m?js)$/.test(path)) return commentLines(source);
  const lines = source.split('\n');
  if (path.endsWith('.md')) return lines;
  const comment = path.endsWith('.lua') ? /^\s*--(?! {3}| (?:KEYS|ARGV))(.*)/ : /^\s*#(?!!| {3})(.*)/;
  return lines.map((line) => comment.exec(line)?.[1] ?? '');
}

/** Returns the problems of the sentences in one file. */
function problemsOf(path: string, source: string): string[] {
  const lines = proseLines(writtenLines(path, source));
  const starts = lines.flatMap((line, index) =>
    line.trim() !== '' && (index === 0 || lines[index - 1]?.trim() === '' || MARKER.test(line))
      ? [index]
      : [],
  );
  return starts.flatMap((start, index) => {
    const paragraph = lines
      .slice(start, starts[index + 1])
      .join('\n')
      .trimEnd();
    return Array.from(masked(paragraph).matchAll(SENTENCE)).flatMap(({ 0: plain, index: offset }) => {
      const text = paragraph.slice(offset, offset + plain.length).replaceAll(/\s+/g, ' ');
      const words = plain.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
      const place = `${path}:${start + paragraph.slice(0, offset).split('\n').length}`;
      const problems = words > MOST_WORDS ? [`${place}: ${words} words: ${text}`] : [];
      if (HIDES_SUBJECT.test(text)) problems.push(`${place}: its subject comes late: ${text}`);
      if (OWNERLESS.test(plain)) problems.push(`${place}: say whose own it is: ${text}`);
      return problems;
    });
  });
}

const LONG = Array.from({ length: MOST_WORDS + 1 }, (_, index) => `word${index}`).join(' ');
const SHORT = LONG.replace(/ \w+$/, '');

const planted: readonly (readonly [path: string, source: string, lines: readonly number[]])[] = [
  ['a.ts', `/** ${LONG}. */`, [1]],
  ['a.ts', `/** ${SHORT}. */`, []],
  ['a.ts', `/**\n * One. Two.\n * Three, ${LONG.replaceAll(' word1', '\n * word1')}.\n */`, [3]],
  ['a.ts', `call(); // ${LONG}`, [1]],
  ['a.ts', `  // ${SHORT}.\n  // Of these one.`, [2]],
  ['a.ts', `/** It enters the own queue. */`, [1]],
  ['a.ts', `/** It enters its own queue. */`, []],
  ['a.ts', `/** A. What is left stays. */\nconst a = 1;\n/** B. */`, [1]],
  ['a.ts', `/**\n * Two things:\n * - As such;\n * - which is fine.\n */`, [3]],
  ['a.ts', `const text = '${LONG}';\nconst url = 'http://a.b // ${LONG}';\nconst c = [ // '${LONG}'`, []],
  ['a.ts', `/** See \`${LONG}\` and "${LONG}", e.g. ${SHORT.replace(/( \w+){5}$/, '')}. */`, []],
  ['a.yaml', `# ${SHORT}.\na: 1\n  # ${LONG}.\n  # Of these one.\nb: '# ${LONG}'`, [3, 4]],
  ['a.lua', `-- ${LONG}.\n--   ${LONG}\nlocal a = '${LONG}' -- b`, [1]],
  ['bin/a', `#!${LONG}\n# ${SHORT}.\n#   ${LONG}\n# Which one?\n\necho '# ${LONG}'`, [4]],
  ['Dockerfile', `# ${SHORT}\n# last.\nRUN ${LONG}`, [1]],
  ['README.md', `# What it is\n\n${SHORT}\nlast. Which one?`, [3, 4]],
  ['README.md', `| Who |\n| --- |\n| ${LONG} |\n\n\`\`\`sh\n${LONG}\n\`\`\`\n`, []],
  ['README.md', `[${SHORT}](README.md#${LONG.replaceAll(' ', '-')}).\n\n[a]: ${LONG}`, []],
  ['README.md', `1. **Who asks.** One.\n2. [The same](README.md) file.`, [1, 2]],
  ['README.md', `Whoever asks, Asked and \`The same\`. \`Of\` is code. Offers too.`, []],
];

for (const [path, source, lines] of planted) {
  test(`${JSON.stringify(source).slice(0, 70)}: ${lines.length} problems`, () => {
    const found = problemsOf(path, source).map((problem) => Number(problem.split(':')[1]));
    assert.deepEqual(found, lines);
  });
}

test('each sentence of a comment or a document is short and begins with its subject', () => {
  const files = writtenFiles().filter((path) => path !== GENERATED && !path.startsWith(CONSOLE));
  assert.ok(files.length > 1_000, 'the files were not found');
  const problems = files.flatMap((path) => problemsOf(path, readRepositoryFile(path)));
  assert.deepEqual(problems, []);
});
