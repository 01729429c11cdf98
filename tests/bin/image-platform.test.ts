/**
 * An image for another platform than this machine's: what bin/image asks the engine for, and what the build's scripts
 * keep.
 */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { root } from '../testbed/root.ts';

const folder = mkdtempSync(join(tmpdir(), 'image-platform-'));
after(() => rmSync(folder, { recursive: true }));

const here = `linux/${process.arch.replace('x64', 'amd64')}`;
const other = here === 'linux/arm64' ? 'linux/amd64' : 'linux/arm64';
const nodeName = (platform: string): string => platform.replace('amd64', 'x64').replace('/', '-');

/** Runs a program, which finds others in `path` first; its exit code and what it wrote to standard error. */
function run(program: string, args: readonly string[], path = '.'): { code: number; errors: string } {
  const paths = `${path}:${dirname(process.execPath)}`;
  const { status, stderr } = spawnSync('sh', ['-c', 'PATH=$0:$PATH exec "$@"', paths, program, ...args]);
  return { code: status ?? -1, errors: stderr.toString() };
}

/** An engine that writes down what it is asked for. */
function standInEngine(): { readonly path: string; builds(): string[] } {
  const path = join(folder, 'engine');
  mkdirSync(path);
  writeFileSync(
    join(path, 'docker'),
    `#!/bin/sh\n[ "$1" != build ] || echo "$*" >>'${path}/builds'\n[ "$2" != inspect ] || echo 1\n[ "$1" != history ] || echo 1B\n`,
    { mode: 0o755 },
  );
  return { path, builds: () => readFileSync(join(path, 'builds'), 'utf8').trim().split('\n') };
}

test('bin/image builds the requested target and platform, and passes both to the scripts', () => {
  const engine = standInEngine();
  const words = ['--target', 'simulator', '--platform', 'linux/arm64'];
  assert.equal(run(join(root, 'bin/image'), words, engine.path).code, 0);
  assert.equal(run(join(root, 'bin/image'), ['--target', 'try'], engine.path).code, 0);
  const [simulator = '', tryOut = ''] = engine.builds();
  assert.match(
    simulator,
    /^build --target simulator --platform linux\/arm64 --build-arg PLATFORM=linux\/arm64 /,
  );
  assert.match(simulator, / --tag tenant-messaging-simulator /);
  assert.match(tryOut, /^build --target try --build-arg VERSION=/);
});

for (const words of [['--platform', 'windows/amd64'], ['--platform'], ['--target', 'all'], ['arm64']]) {
  test(`bin/image ${words.join(' ')} is refused`, () => {
    const { code, errors } = run(join(root, 'bin/image'), words);
    assert.equal(code, 2);
    assert.match(errors, /^usage: bin\/image /);
  });
}

/** An app with packages that have binaries for both platforms. */
function appFor(platforms: readonly string[]): string {
  const app = mkdtempSync(join(folder, 'app-'));
  cpSync(join(root, 'image'), join(app, 'image'), { recursive: true });
  writeFileSync(join(app, 'package.json'), '{}');
  const put = (path: string): void => {
    mkdirSync(dirname(join(app, 'node_modules', path)), { recursive: true });
    writeFileSync(join(app, 'node_modules', path), '');
  };
  for (const platform of platforms) {
    const name = nodeName(platform);
    put(`@uwsjs/${name}-${process.versions.node.split('.')[0]}/index.js`);
    put(`curve/prebuilds/${name}/node.napi.node`);
    put(`curve/prebuilds/${name}/node.napi.musl.node`);
  }
  put('swagger-ui-dist/package.json');
  put('@opentelemetry/api/package.json');
  return app;
}

test('image/trim-packages keeps the binaries of the given platform, and no others', () => {
  const app = appFor([here, other]);
  assert.deepEqual(run(join(app, 'image/trim-packages'), [other]), { code: 0, errors: '' });
  const kept = (platform: string, file: string): boolean =>
    existsSync(join(app, 'node_modules/curve/prebuilds', nodeName(platform), file));
  assert.deepEqual(
    [kept(other, 'node.napi.node'), kept(other, 'node.napi.musl.node'), kept(here, 'node.napi.node')],
    [true, false, false],
  );
});

test('image/trim-packages names the package that is missing for the platform', () => {
  const { code, errors } = run(join(appFor([here]), 'image/trim-packages'), [other]);
  assert.equal(code, 1);
  assert.match(errors, new RegExp(`^The npm registry did not give @uwsjs/${nodeName(other)}-\\d+, `));
});

test('image/gather-system gathers nothing if the base image is of another platform', () => {
  const system = join(folder, 'system');
  const { code, errors } = run(join(root, 'image/gather-system'), [system, other]);
  assert.deepEqual(
    [code, errors],
    [
      1,
      `The base image is of ${here}, and the image is to be of ${other}: pull the base image for ${other} first.\n`,
    ],
  );
  assert.ok(!existsSync(system));
});
