import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { root } from '../testbed/root.ts';

const folder = mkdtempSync(join(tmpdir(), 'prepare-'));
after(() => rmSync(folder, { recursive: true }));

/** Makes a machine: a checkout with bin/prepare, and a PATH with only the named programs. */
function machine(name: string, programs: Readonly<Record<string, string>>): string {
  const place = join(folder, name);
  mkdirSync(join(place, 'bin'), { recursive: true });
  mkdirSync(join(place, 'path'));
  cpSync(join(root, 'bin/prepare'), join(place, 'bin/prepare'));
  writeFileSync(
    join(place, 'package-lock.json'),
    JSON.stringify({ packages: { '': {}, 'node_modules/a': { version: '1.0.0' } } }),
  );
  cpSync(join(root, 'image/server-package.mjs'), join(place, 'image/server-package.mjs'));
  for (const tool of ['bash', 'dirname', 'sed', 'cat', 'mktemp', 'tail', 'rm', 'mkdir', 'ln', 'env', 'sh'])
    symlinkSync(`/bin/${tool}`, join(place, 'path', tool));
  for (const [program, script] of Object.entries(programs)) {
    writeFileSync(join(place, 'path', program), `#!/bin/sh\n${script}\n`);
    chmodSync(join(place, 'path', program), 0o755);
  }
  return place;
}

function prepare(place: string): Promise<{ readonly code: number; readonly errors: string }> {
  return new Promise((settle) => {
    execFile(
      join(place, 'bin/prepare'),
      { env: { PATH: join(place, 'path') } },
      (failure, _output, errors) => {
        settle({ code: failure === null ? 0 : Number(failure.code), errors });
      },
    );
  });
}

const node = `exec ${process.execPath} "$@"`;
const server = `@uwsjs/${process.platform}-${process.arch}-${process.versions.node.split('.')[0]}`;
const installsLocked = `mkdir -p node_modules && cat > node_modules/.package-lock.json < package-lock.json`;
const installsPackages = `${installsLocked} && mkdir -p node_modules/${server} && cat > node_modules/${server}/index.js < /dev/null`;
const whole = { node, npm: installsPackages, flock: '', 'redis-server': '' };

test('without Node, an error says what is missing', async () => {
  const { node: _node, ...rest } = whole;
  assert.deepEqual(await prepare(machine('no-node', rest)), {
    code: 1,
    errors: 'Node 26, 24 or 22 (22.2 or newer) is needed, or 20 from 20.15 on; found none.\n',
  });
});

for (const version of ['v18.19.1', 'v20.14.0', 'v22.1.0', 'v23.11.1', 'v25.9.0']) {
  test(`Node ${version} is refused with its version`, async () => {
    const place = machine(`node-${version}`, { ...whole, node: `echo ${version}` });
    assert.deepEqual(await prepare(place), {
      code: 1,
      errors: `Node 26, 24 or 22 (22.2 or newer) is needed, or 20 from 20.15 on; found ${version}.\n`,
    });
  });
}

test('packages are installed once, and silence means that all is there', async () => {
  const place = machine('fresh', whole);
  const first = await prepare(place);
  assert.equal(first.code, 0);
  assert.match(first.errors, /^Installing the npm packages .*\nInstalled the npm packages in \d+ s\.\n$/);
  assert.deepEqual(await prepare(place), { code: 0, errors: '' });
});

test('a package with another version than in the lock file is installed again', async () => {
  const place = machine('stale', whole);
  await prepare(place);
  writeFileSync(
    join(place, 'package-lock.json'),
    JSON.stringify({ packages: { 'node_modules/a': { version: '1.0.1' } } }),
  );
  assert.match((await prepare(place)).errors, /Installing/);
});

test('a registry without the HTTP server for this platform is reported in one sentence', async () => {
  const { code, errors } = await prepare(machine('no-server', { ...whole, npm: installsLocked }));
  assert.equal(code, 1);
  assert.match(
    errors,
    new RegExp(`\nThe npm registry did not give ${server}, the HTTP server's binary; [^\n]*\n$`),
  );
});

test('a failed install of packages ends in one sentence', async () => {
  const { code, errors } = await prepare(machine('npm-fails', { ...whole, npm: 'echo E404 >&2; exit 1' }));
  assert.equal(code, 1);
  assert.match(errors, /E404\nThe npm packages could not be installed; npm says why above\.\n$/);
});

test('a missing redis-server without a way to install it is reported in one sentence', async () => {
  const { 'redis-server': _redis, ...rest } = whole;
  const { code, errors } = await prepare(machine('no-redis', rest));
  assert.equal(code, 1);
  assert.match(errors, /redis-server is missing and there is no apt-get; install Redis 7 by hand\.\n$/);
});

test('the error of a failed apt-get is shown', async () => {
  const { 'redis-server': _redis, ...rest } = whole;
  const sudo = 'shift; exec "$@"';
  const { code, errors } = await prepare(
    machine('apt-fails', { ...rest, sudo, 'apt-get': 'echo E: no network; exit 100' }),
  );
  assert.equal(code, 1);
  assert.match(errors, /E: no network\nredis-server could not be installed; apt-get says why above\.\n$/);
});

test('the server of redis-tools is linked to its name, and no service is installed', async () => {
  const { 'redis-server': _redis, ...rest } = whole;
  const place = machine('installs', {
    ...rest,
    sudo: 'shift; exec "$@"',
    'apt-get': `[ "$1" = update ] || { case "$*" in *redis-server*) exit 1;; esac; printf '#!/bin/sh\\n' > ${folder}/installs/path/redis-check-rdb; /bin/chmod 755 ${folder}/installs/path/redis-check-rdb; }`,
  });
  const { code, errors } = await prepare(place);
  assert.equal(code, 0, errors);
  assert.match(errors, /Installing redis-server \(apt-get install redis-tools\)/);
  assert.deepEqual(await prepare(place), { code: 0, errors: '' });
});
