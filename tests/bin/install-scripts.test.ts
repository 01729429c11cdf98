/** No package runs a script when it is installed, since that is the shortest way of a supply-chain attack. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRepositoryFile } from '../testbed/read-repository-file.ts';

/** The files that run npm install, here and in the image. */
const INSTALLERS = ['bin/prepare', 'bin/prepare-document-tools', 'Dockerfile', 'bench/harness/build.ts'];

/**
 * Packages that have an install script, and why it is not needed. A new one is tried without before it is added here.
 */
const NOT_NEEDED: Readonly<Record<string, string>> = {
  '@scarf/scarf': 'reports installations to its maker',
  '@whiskeysockets/baileys': 'refuses Node below 20, as bin/prepare does',
  'cpu-features': 'compiles a binary that ssh2 works without',
  esbuild: 'puts its binary in the place of a shim; tsx starts the binary by itself',
  protobufjs: 'warns of versions that do not fit',
  ssh2: 'compiles a binary that it works without',
  'zapo-js': 'refuses Node below 20.9, as bin/prepare does',
};

for (const path of INSTALLERS) {
  test(`${path} runs no install scripts`, () => {
    const lines = readRepositoryFile(path)
      .split('\n')
      .filter(
        (line) =>
          /^(?!\s*(#|\/\/)).*(npm (?:install|ci) --|'(?:install|ci)', )/.test(line) &&
          !/^\s*(?:say|echo) /.test(line),
      );
    assert.ok(lines.length > 0, 'it installs nothing any more');
    for (const line of lines) assert.match(line, /--ignore-scripts/);
  });
}

test('every package with an install script is listed as working without it', () => {
  const { packages } = JSON.parse(readRepositoryFile('package-lock.json')) as {
    packages: Record<string, { readonly hasInstallScript?: boolean }>;
  };
  const scripted = Object.entries(packages).flatMap(([path, { hasInstallScript }]) =>
    hasInstallScript === true ? [path.replace(/^.*node_modules\//, '')] : [],
  );
  assert.deepEqual(
    scripted.filter((name) => !(name in NOT_NEEDED)),
    [],
  );
});
