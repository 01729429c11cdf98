import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { lockFile } from '../../bin/file-lock.ts';

const root = resolve(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'dev-'));
after(() => rmSync(folder, { recursive: true }));

/** Runs bin/dev.ts where it is expected to refuse; everything it says comes back. */
async function refuse(
  variables: Readonly<Record<string, string>>,
): Promise<{ readonly code: number | null; readonly output: string; readonly errors: string }> {
  const dev = spawn(process.execPath, ['--import', 'tsx', 'bin/dev.ts'], {
    cwd: root,
    env: { PORT: '0', ADMIN_PORT: '0', SIMULATOR_PORT: '0', ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said = { output: '', errors: '' };
  dev.stdout.on('data', (chunk) => {
    said.output += chunk;
  });
  dev.stderr.on('data', (chunk) => {
    said.errors += chunk;
  });
  const [code] = await once(dev, 'close');
  return { code, ...said };
}

test('bad values are all told before anything is made', async () => {
  const dataDirectory = join(folder, 'bad');
  const { code, output, errors } = await refuse({ DATA_DIR: dataDirectory, PORT: 'x', LOG_LEVEL: 'loud' });
  assert.equal(code, 1);
  assert.equal(output, '');
  assert.match(errors, /PORT: expected/);
  assert.match(errors, /LOG_LEVEL: expected/);
  assert.equal(readdirSync(folder).includes('bad'), false);
});

test('a second bin/dev on the same data directory is refused in one sentence', async () => {
  const lock = await lockFile(join(folder, 'dev.lock'), { waitSeconds: 0 });
  assert.ok(lock);
  const { code, errors } = await refuse({ DATA_DIR: folder });
  lock.release();
  assert.equal(code, 1);
  assert.equal(errors, `bin/dev: Another bin/dev is running on ${folder}; set DATA_DIR to another folder.\n`);
});

test('a port in use is told with the variable that picks another', async () => {
  const squatter = createServer().listen({ host: '127.0.0.1', port: 0 });
  await once(squatter, 'listening');
  const { port } = squatter.address() as AddressInfo;
  const { code, errors } = await refuse({ DATA_DIR: folder, ADMIN_PORT: String(port) });
  squatter.close();
  assert.equal(code, 1);
  assert.equal(errors, `bin/dev: Port ${port} on 127.0.0.1 is in use; set ADMIN_PORT to another.\n`);
});

test('without flock it says what is missing', async () => {
  const { code, errors } = await refuse({ DATA_DIR: folder, PATH: join(folder, 'empty') });
  assert.equal(code, 1);
  assert.match(errors, /^bin\/dev: flock is missing/);
});
