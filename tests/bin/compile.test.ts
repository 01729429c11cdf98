/** `bin/compile` while something else runs from `.compiled/`. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { root } from '../testbed/root.ts';

const folder = mkdtempSync(join(tmpdir(), 'compile-'));
after(() => rmSync(folder, { recursive: true }));

/**
 * Compiles with a compiler that lists `.compiled/` in the file `seen`, writes `new.js` and ends so. Returns the exit
 * code.
 */
function compile({ exitCode }: { readonly exitCode: number }): number | null {
  for (const name of ['bin', 'runtime', 'policy', 'actors', 'http', 'node_modules/.bin', '.compiled'])
    mkdirSync(join(folder, name), { recursive: true });
  for (const name of ['bin/compile', 'bin/copy-assets']) cpSync(join(root, name), join(folder, name));
  writeFileSync(join(folder, 'runtime/script.lua'), 'return 1');
  writeFileSync(join(folder, '.compiled/old.js'), '');
  const script = `#!/bin/sh\nls .compiled > seen\necho > "$6/new.js"\nexit ${exitCode}\n`;
  writeFileSync(join(folder, 'node_modules/.bin/tsc'), script, { mode: 0o755 });
  return spawnSync(join(folder, 'bin/compile'), { stdio: 'ignore' }).status;
}

const left = (): string[] => readdirSync(folder).filter((name) => name.startsWith('.compiled-'));

test('earlier compiled files stay until the new ones are complete, and then none of them is left', () => {
  assert.equal(compile({ exitCode: 0 }), 0);
  assert.equal(readFileSync(join(folder, 'seen'), 'utf8'), 'old.js\n');
  assert.deepEqual(readdirSync(join(folder, '.compiled')).toSorted(), ['new.js', 'runtime']);
  assert.deepEqual(left(), []);
});

test('earlier compiled files stay if something does not compile', () => {
  rmSync(join(folder, '.compiled'), { recursive: true });
  assert.equal(compile({ exitCode: 2 }), 2);
  assert.deepEqual(readdirSync(join(folder, '.compiled')), ['old.js']);
  assert.deepEqual(left(), []);
});
