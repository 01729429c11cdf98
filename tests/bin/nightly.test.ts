/** The end of bin/nightly, with programs that only print. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { moduleFile, nodeFlags, root } from '../testbed/root.ts';

const folder = mkdtempSync(join(tmpdir(), 'nightly-'));
after(() => rmSync(folder, { recursive: true }));

const program = (path: string, ...lines: readonly string[]): void =>
  writeFileSync(join(folder, path), ['#!/bin/sh', ...lines, ''].join('\n'), { mode: 0o755 });

before(() => {
  for (const name of ['bin', '.tools/bin']) mkdirSync(join(folder, name), { recursive: true });
  cpSync(join(root, 'bin/nightly'), join(folder, 'bin/nightly'));
  program('bin/prepare-all');
});

function nightly(...lines: readonly string[]): { readonly status: number | null; readonly stderr: string } {
  program('.tools/bin/npm', ...lines);
  return spawnSync(join(folder, 'bin/nightly'), ['--smoke', 'test:other-network', 'test:alerts'], {
    encoding: 'utf8',
  });
}

test('a command that could not run is named at the end, with its reason', () => {
  const { status, stderr } = nightly(`case $2 in *other*) echo 'not run: no network';; esac`);
  assert.deepEqual([status, stderr], [0, '── not run: npm run test:other-network: no network\n']);
});

test('a command that fails is named at the end, and nothing is if all of them ran', () => {
  const { status, stderr } = nightly('case $2 in *alerts*) exit 3;; esac');
  assert.deepEqual([status, stderr], [1, '── FAILED: npm run test:alerts\n']);
  const all = nightly('echo all is well');
  assert.deepEqual([all.status, all.stderr], [0, '']);
});

test('npm run test:other-network says `not run` and succeeds if it cannot fetch the other project', () => {
  const args = [...nodeFlags, moduleFile('tests/other-network/run.ts'), '--peer=/nowhere'];
  const { status, stdout } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
  assert.equal(status, 0);
  assert.match(stdout, /^not run: vinikjkkj\/zapo at .* cannot be had from \/nowhere/);
});
