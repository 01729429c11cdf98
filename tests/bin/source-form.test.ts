/** Rules of form that the linter has no rule for (CONTRIBUTING.md, Rules that the gate checks). */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../testbed/root.ts';
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

const sources = writtenFiles()
  .filter((path) => /\.(?:ts|m?js)$/.test(path))
  .map((path) => ({ path, source: readFileSync(join(root, path), 'utf8') }));

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
