/**
 * Every file that names this project's version names the one of package.json, and each released version is recorded.
 */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readRepositoryFile } from '../testbed/read-repository-file.ts';
import { root } from '../testbed/root.ts';

const { version } = JSON.parse(readRepositoryFile('package.json')) as { version: string };

test('the lock file and the client have the version of the service', () => {
  const lock = JSON.parse(readRepositoryFile('package-lock.json'));
  assert.equal(lock.version, version);
  assert.equal(lock.packages[''].version, version);
  assert.equal(JSON.parse(readRepositoryFile('client/package.json')).version, version);
});

test('the chart has the version of the service, and starts an image of it', () => {
  const versions = [
    ...readRepositoryFile('deploy/helm/Chart.yaml').matchAll(/^(?:version|appVersion): (.+)$/gm),
  ];
  assert.deepEqual(
    versions.map(([, each]) => each),
    [version, version],
  );
});

for (const document of ['client/README.md', 'http/articles/texts/15-typescript-client.md']) {
  test(`${document} names the package of this version`, () => {
    const named = [...readRepositoryFile(document).matchAll(/tenant-messaging-client-(\S+?)\.tgz/g)].map(
      ([, name]) => name,
    );
    assert.deepEqual([...new Set(named)], [version]);
  });
}

test('the changelog begins with this version, and this version has a frozen document of its API', () => {
  const released = [...readRepositoryFile('CHANGELOG.md').matchAll(/^## (\d\S*)/gm)].map(([, name]) => name);
  assert.equal(released[0], version);
  assert.ok(readdirSync(join(root, 'docs/released')).includes(`openapi-${version}.json`));
});
