/** The PATH of bin/test-node: Node is that of the folder, and every other program is that of .tools/bin. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { root } from '../testbed/root.ts';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'test-node-')));
after(() => rmSync(folder, { recursive: true }));

const program = (path: string, line: string): void =>
  writeFileSync(join(folder, path), `#!/bin/sh\n${line}\n`, { mode: 0o755 });

before(() => {
  for (const name of ['bin', '.tools/bin', 'other', 'tests/http', 'tests/e2e/api', 'tests/memory-network'])
    mkdirSync(join(folder, name), { recursive: true });
  for (const name of ['outbound', 'sessions'])
    mkdirSync(join(folder, 'tests/actors', name), { recursive: true });
  for (const name of ['test-node', 'compiled-names'])
    cpSync(join(root, 'bin', name), join(folder, 'bin', name));
  for (const name of ['http/lifecycle', 'e2e/api/main-job'])
    writeFileSync(join(folder, `tests/${name}.test.ts`), '');
  program('other/node', 'echo "$0 $(command -v redis-server)"');
  for (const name of ['other/redis-server', '.tools/bin/redis-server', '.tools/bin/npm']) program(name, '');
});

function run(command: string): string | undefined {
  const { stdout } = spawnSync('bash', ['-c', command], { cwd: folder, encoding: 'utf8' });
  return stdout.trim().split('\n').at(-1);
}

test('the tests, and the commands for the gate, use Node of the folder and redis-server of .tools/bin', () => {
  const used = `${folder}/other/node ${folder}/.tools/bin/redis-server`;
  const start = 'bin/test-node "$PWD/other"';
  assert.equal(run(start), used);
  const command = run(`${start} --short --list`);
  assert.match(String(command), /together\.js .*lifecycle/);
  assert.equal(run(String(command)), used);
});
