/** The HTTP server's binary: its package for each platform and Node, and the error if there is none. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { withAllPlatforms } from '../../bin/generators/lock-platforms.ts';
import { readRepositoryFile } from '../testbed/read-repository-file.ts';

/** Tests run there. */
const root = process.cwd();

// It runs before any package is there, so it is no TypeScript.
const { whyItDoesNotLoad } = await import(join(root, 'image/server-package.mjs'));
const read = (path: string) => JSON.parse(readRepositoryFile(path));
const lockFolders = [
  '',
  ...readdirSync(join(root, 'tests/packages')).map((name) => `tests/packages/${name}`),
];

for (const arch of ['x64', 'arm64']) {
  for (const [major, version] of Object.entries({
    20: '20.51.4',
    22: '20.51.4',
    24: '20.69.0',
    26: '20.69.0',
  })) {
    test(`the lock file names the server of Node ${major} on linux-${arch}, for that platform alone`, () => {
      const name = `@uwsjs/linux-${arch}-${major}`;
      assert.equal(read('package.json').optionalDependencies[name], version);
      const locked = read('package-lock.json').packages[`node_modules/${name}`];
      assert.deepEqual([locked.version, locked.os, locked.cpu], [version, ['linux'], [arch]]);
    });
  }
}

for (const folder of lockFolders) {
  test(`npm ci takes the lock file of /${folder}`, async () => {
    const lock = read(join(folder, 'package-lock.json'));
    assert.deepEqual(withAllPlatforms(lock), lock, 'run npm run lock-platforms');
    const args = [
      'ci',
      '--dry-run',
      '--offline',
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
    ];
    await promisify(execFile)('npm', args, { cwd: join(root, folder) });
  });
}

test('a binary that the registry lacks gets the platform of its name', () => {
  const a = {
    version: '1.0.0',
    optionalDependencies: { '@a/b-linux-arm64-musl': '1.0.0', '@a/b-win32-x64': '1.0.0' },
  };
  const packages = { 'node_modules/a': a, 'node_modules/@a/b-win32-x64': { version: '1.0.0' } };
  assert.deepEqual(withAllPlatforms({ packages }).packages, {
    ...packages,
    'node_modules/@a/b-linux-arm64-musl': {
      version: '1.0.0',
      optional: true,
      os: ['linux'],
      cpu: ['arm64'],
      libc: ['musl'],
    },
  });
});

const here = { platform: 'linux', arch: 'arm64', node: '24.1.0', glibc: '2.41' };
for (const [sentence, machine] of [
  [/^The npm registry did not give @uwsjs\/linux-arm64-24, /, here],
  [
    /^Node 24 needs glibc 2\.38 for the HTTP server, .*; here is 2\.36, so use Node 22\.$/,
    { ...here, glibc: '2.36' },
  ],
  [/needs glibc, and musl will not do/, { ...here, glibc: undefined }],
  [/no binary for Node 25\.0\.0; use Node 24, 22 or 26\.$/, { ...here, node: '25.0.0' }],
  [/runs on Linux; start it in a container on darwin\.$/, { ...here, platform: 'darwin' }],
] as const) {
  test(`if the server does not load: ${sentence.source}`, () => {
    assert.match(whyItDoesNotLoad(machine), sentence);
  });
}
