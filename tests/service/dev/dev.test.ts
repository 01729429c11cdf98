import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { lockFile } from '../../../service/dev/file-lock.ts';
import { moduleFile, nodeFlags, root } from '../../testbed/root.ts';

const folder = mkdtempSync(join(tmpdir(), 'dev-'));
const startedProcesses: ChildProcess[] = [];
after(() => {
  for (const dev of startedProcesses) dev.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

/** Runs a program that must refuse, and resolves with all its output. */
async function refuse(
  variables: Readonly<Record<string, string>>,
  program = 'service/dev/dev.ts',
): Promise<{ readonly code: number | null; readonly output: string; readonly errors: string }> {
  const dev = spawn(process.execPath, ['--import', 'tsx', program], {
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

test('all bad values are reported before anything is created', async () => {
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

test('a port in use is reported with the variable that chooses another', async () => {
  const squatter = createServer().listen({ host: '127.0.0.1', port: 0 });
  await once(squatter, 'listening');
  const { port } = squatter.address() as AddressInfo;
  const { code, errors } = await refuse({ DATA_DIR: folder, ADMIN_PORT: String(port) });
  squatter.close();
  assert.equal(code, 1);
  assert.equal(errors, `bin/dev: Port ${port} on 127.0.0.1 is in use; set ADMIN_PORT to another.\n`);
});

test('a data directory that cannot be made is reported at once', async () => {
  for (const dataDirectory of ['/proc/tenant-messaging/data', '/dev/null/data']) {
    const { code, errors } = await refuse({ DATA_DIR: dataDirectory });
    assert.equal(code, 1);
    assert.match(errors, /^bin\/dev: (ENOENT|ENOTDIR): .*\n$/);
  }
});

test('without flock the error names the missing program', async () => {
  const { code, errors } = await refuse({ DATA_DIR: folder, PATH: join(folder, 'empty') });
  assert.equal(code, 1);
  assert.match(errors, /^bin\/dev: flock is missing/);
});

interface Started {
  readonly process: ChildProcess;
  readonly ready: { readonly api: string; readonly apiKey: string };
  /** Ends with the exit code, when everything that inherited its output is gone. */
  readonly over: Promise<number | null>;
}

/** Runs service/dev/dev.ts, in the form in which the tests run, and waits until all is up. */
async function start(dataDirectory: string): Promise<Started> {
  const variables = ['PORT=0', 'ADMIN_PORT=0', 'SIMULATOR_PORT=0', `DATA_DIR=${dataDirectory}`];
  const dev = spawn('env', [...variables, process.execPath, ...nodeFlags, moduleFile('service/dev/dev.ts')], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  startedProcesses.push(dev);
  const exitCode = once(dev, 'close').then(([code]) => code as number | null);
  const [line] = await Promise.race([
    once(createInterface({ input: dev.stdout }), 'line'),
    exitCode.then((code) => assert.fail(`it ended with ${code} before it was ready`)),
  ]);
  return { process: dev, ready: JSON.parse(line), over: exitCode };
}

/** The process among a process's children that runs this program. */
function childOf(pid: number | undefined, program: string): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
  const found = children.find((child) => readFileSync(`/proc/${child}/cmdline`, 'utf8').includes(program));
  return found ?? assert.fail(`${program} does not run`);
}

test('when the service is killed everything ends, and started again at once it carries on', async () => {
  const dataDirectory = join(folder, 'killed');
  const first = await start(dataDirectory);
  const keeper = await refuse({ DATA_DIR: dataDirectory }, 'service/dev/simulator.ts');
  assert.equal(keeper.code, 1);
  assert.match(keeper.errors, /Another simulator is running on/);
  process.kill(childOf(first.process.pid, moduleFile('service/service.ts')), 'SIGKILL');
  assert.equal(await first.over, 1);
  const second = await start(dataDirectory);
  assert.equal(second.ready.apiKey, first.ready.apiKey);
  const me = await fetch(`${second.ready.api}/me`, { headers: { 'x-api-key': first.ready.apiKey } });
  assert.equal(me.status, 200);
  second.process.kill('SIGTERM');
  assert.equal(await second.over, 0);
});
