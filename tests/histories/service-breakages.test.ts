import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readRepositoryFile } from '../testbed/read-repository-file.ts';
import { root } from '../testbed/root.ts';
import { brokenSource, serviceBreakages } from './service-breakages.ts';

const folder = mkdtempSync(join(tmpdir(), 'service-breakages-'));
after(() => rmSync(folder, { recursive: true }));

test('every breakage of the service finds its edit in the source, once', () => {
  const stale = serviceBreakages.flatMap(({ file, edits }) => {
    const source = readRepositoryFile(file);
    return edits.filter(([from]) => source.split(from).length !== 2).map(([from]) => `${file}: ${from}`);
  });
  assert.deepEqual(stale, []);
});

// A history runs the broken files without a type check. A name that is not there would end the nodes.
test('every breakage of the service compiles', () => {
  for (const path of ['runtime', 'policy', 'actors', 'package.json', 'tsconfig.json'])
    cpSync(join(root, path), join(folder, path), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  // Each is a file beside the whole one, since several breakages are of one file.
  const files = serviceBreakages.map((breakage, index) => {
    const file = breakage.file.replace(/\.ts$/, `.broken-${index}.ts`);
    writeFileSync(join(folder, file), brokenSource(breakage));
    return file;
  });
  const compilerOptions = { noUnusedLocals: false, noUnusedParameters: false };
  const config = { extends: './tsconfig.json', compilerOptions, include: [], files };
  writeFileSync(join(folder, 'broken.json'), JSON.stringify(config));
  const words = ['-p', join(folder, 'broken.json'), '--singleThreaded'];
  const { stdout, status } = spawnSync(join(root, 'node_modules/.bin/tsc'), words, { encoding: 'utf8' });
  assert.deepEqual([stdout, status], ['', 0]);
});
