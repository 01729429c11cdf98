/** docs/licences.md lists each package of the image with its licence. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { imagePackages, licencesPage } from '../../bin/generators/licences.ts';
import { readRepositoryFile } from '../testbed/read-repository-file.ts';
import { root } from '../testbed/root.ts';

const packages = imagePackages(JSON.parse(readRepositoryFile('package-lock.json')).packages);

test('docs/licences.md is what npm run licences writes', () => {
  assert.equal(readRepositoryFile('docs/licences.md'), licencesPage(packages), 'run npm run licences');
});

test('the listed licence of each installed package is the one that the package names', () => {
  const installed = packages.filter(({ folder }) => existsSync(join(root, folder)));
  assert.ok(installed.length > 100);
  for (const { folder, name, licence } of installed) {
    const { license } = JSON.parse(readRepositoryFile(join(folder, 'package.json')));
    assert.equal(license, licence, name);
  }
});

const locked = { version: '1.0.0' };
const named = (one: object) => imagePackages({ 'node_modules/a': { ...locked, ...one } });

test('packages that are not in the image are left out', () => {
  assert.deepEqual(named({ license: 'MIT', dev: true }), []);
  assert.deepEqual(named({ license: 'MIT', os: ['darwin'] }), []);
  assert.deepEqual(named({ license: 'MIT', cpu: ['s390x'] }), []);
  assert.deepEqual(named({ license: 'MIT', libc: ['musl'] }), []);
  assert.equal(named({ license: 'MIT', os: ['linux'], cpu: ['arm64'], libc: ['glibc'] }).length, 1);
});

test('a package without a licence, or with an unknown one, is refused', () => {
  assert.throws(() => named({}), /a has no licence/);
  assert.throws(() => licencesPage(named({ license: 'AGPL-3.0' })), /AGPL-3.0 is not among the licences/);
});
