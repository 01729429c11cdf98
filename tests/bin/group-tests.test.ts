/** `bin/gate/group-tests.ts` decides which test files share a process. It refuses those whose names must say more. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { moduleFile, nodeFlags } from '../testbed/root.ts';

const folder = mkdtempSync(join(tmpdir(), 'group-tests-'));
after(() => rmSync(folder, { recursive: true }));

/** Changes its process. It is composed, so that this file itself needs no such name. */
const TOUCHES = `${'process'}.env.A = 'b';\n`;
const HARMLESS = 'export const a = 1;\n';

const planted: Readonly<Record<string, string>> = {
  'http/first.test.js': HARMLESS,
  'http/second.test.js': `import { a } from './first.test.js';\n`,
  'http/third.alone.test.js': TOUCHES,
  'http/changes.test.js': TOUCHES,
  'http/changing.js': TOUCHES,
  'http/by-helper.test.js': `import { a } from './middle.js';\n`,
  'http/middle.js': `import { a } from './changing.js';\n`,
  'e2e/long.test.js': TOUCHES,
  'http/below/fourth.test.js': HARMLESS,
  ...Object.fromEntries(Array.from('abcdefghi', (name) => [`policy/${name}.test.js`, HARMLESS])),
};
const pathOf = (name: string): string => `.compiled/tests/${name}`;
for (const [name, source] of Object.entries(planted)) {
  mkdirSync(dirname(join(folder, pathOf(name))), { recursive: true });
  writeFileSync(join(folder, pathOf(name)), source);
}

function grouped(...names: readonly string[]): { code: number | null; groups: string[]; errors: string } {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [...nodeFlags, moduleFile('bin/gate/group-tests.ts')],
    { cwd: folder, input: `${names.map(pathOf).join('\n')}\n`, encoding: 'utf8' },
  );
  const groups = stdout.replaceAll(pathOf(''), '').split('\n').filter(Boolean);
  return { code: status, groups, errors: stderr.replaceAll(pathOf(''), '') };
}

test('files below a folder share a process, except for those with the name and those of long folders', () => {
  const names = ['http/second.test.js', 'http/first.test.js', 'http/third.alone.test.js', 'e2e/long.test.js'];
  assert.deepEqual(grouped(...names, 'http/below/fourth.test.js', 'policy/a.test.js'), {
    code: 0,
    groups: [
      'e2e/long.test.js',
      'http/third.alone.test.js',
      'http/below/fourth.test.js http/first.test.js http/second.test.js',
      'policy/a.test.js',
    ],
    errors: '',
  });
});

test('at most eight files share a process', () => {
  const names = Array.from('abcdefghi', (name) => `policy/${name}.test.js`);
  assert.deepEqual(grouped(...names).groups, [names.slice(0, 8).join(' '), 'policy/i.test.js']);
});

test('files that touch their process, themselves or by a helper, are refused without the name', () => {
  const { code, errors } = grouped('http/changes.test.js', 'http/first.test.js', 'http/by-helper.test.js');
  assert.equal(code, 1);
  assert.match(
    errors,
    /names must end in \.alone\.test\.ts:\nhttp\/by-helper\.test\.js\nhttp\/changes\.test\.js\n$/,
  );
});
