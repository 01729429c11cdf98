/** The image's Node loses the symbols that only debuggers read. The program still runs. */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { root } from '../testbed/root.ts';

const PROGRAM = join(root, 'image/cut-symbols.mjs');
const folder = mkdtempSync(join(tmpdir(), 'cut-symbols-'));
after(() => rmSync(folder, { recursive: true }));

const cut = (path: string): Buffer =>
  execFileSync(process.execPath, [PROGRAM, path], { stdio: ['ignore', 'pipe', 'pipe'] });

test('Node without its symbols is no larger, names no section, and runs', () => {
  const node = join(folder, 'node');
  copyFileSync(process.execPath, node);
  cut(node);
  assert.ok(statSync(node).size <= statSync(process.execPath).size);
  const header = readFileSync(node).subarray(0, 64);
  assert.deepEqual([header.readBigUInt64LE(40), header.readUInt16LE(60)], [0n, 0]);
  assert.equal(execFileSync(node, ['-p', 'process.version'], { encoding: 'utf8' }).trim(), process.version);
});

test('a file that is not a program is left unchanged, with an error', () => {
  const file = join(folder, 'text');
  writeFileSync(file, `#!/bin/sh\n${'# '.repeat(100)}`);
  const bufferBefore = readFileSync(file);
  assert.throws(() => cut(file), /no little-endian ELF file of 64 bits/);
  assert.deepEqual(readFileSync(file), bufferBefore);
});
