import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readRepositoryFile } from '../testbed/read-repository-file.ts';
import { root } from '../testbed/root.ts';

const folder = join(root, 'simulator');
const PACKAGE = /^(?:import|export) [^;]*? from '((?:@[\w-]+\/)?[\w-]+)[^']*';/gm;

test('the README names every package that a copy of the simulator needs, with its version', () => {
  const sources = readdirSync(folder, { encoding: 'utf8', recursive: true }).filter((name) =>
    name.endsWith('.ts'),
  );
  const importedNames = sources.flatMap((name) =>
    [...readFileSync(join(folder, name), 'utf8').matchAll(PACKAGE)].map(([, found = '']) => found),
  );
  const { dependencies, devDependencies } = JSON.parse(readRepositoryFile('package.json'));
  const versions: Readonly<Record<string, string>> = { ...dependencies, ...devDependencies };
  const needed = [...new Set(importedNames)]
    .filter((name) => name !== 'node')
    .map((name) => `${name}@${versions[name]}`);
  const [, command = ''] = /^npm install (.+)$/m.exec(readFileSync(join(folder, 'README.md'), 'utf8')) ?? [];
  assert.deepEqual(command.split(' ').toSorted(), needed.toSorted());
});
