/**
 * compose.try.yaml: its container's program, as a process with the container's environment, up to the tour's answer.
 */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import * as v from 'valibot';
import { type GuardedProcess, spawnGuarded } from '../../../service/dev/guarded-process.ts';
import { readYaml } from '../../chart/chart-tools.ts';
import { freePorts } from '../../testbed/free-ports.ts';
import { readRepositoryFile } from '../../testbed/read-repository-file.ts';
import { root } from '../../testbed/root.ts';
import { imageTarget } from '../stack/image-target.ts';

const composeFile = v.object({
  services: v.object({
    try: v.object({
      build: v.object({ target: v.string() }),
      container_name: v.string(),
      environment: v.record(v.string(), v.string()),
      ports: v.array(v.string()),
      volumes: v.tuple([v.literal('data:/data')]),
    }),
  }),
});
const service = v.parse(composeFile, readYaml(readRepositoryFile('compose.try.yaml'))[0]).services.try;
const target = imageTarget(service.build.target);

const folder = mkdtempSync(join(tmpdir(), 'try-out-'));
let container: GuardedProcess;
/** The lines that the container printed once all was up. */
const printed: string[] = [];
/** The environment of the try-out, as words of env(1). */
let environment: string[];

before(async () => {
  const [port, adminPort, simulatorPort] = await freePorts(3);
  const given: Record<string, unknown> = { PORT: port, ADMIN_PORT: adminPort, SIMULATOR_PORT: simulatorPort };
  const passed = Object.entries(service.environment).map(([name, value]) => [
    name,
    value.replaceAll(/\$\{(\w+):-[^}]*\}/g, (_, variable: string) => String(given[variable])),
  ]);
  // A container has its own loopback and volume. A process has those of this machine.
  const own = Object.entries(target.environment).map(([name, value]) => [
    name,
    value.replace('0.0.0.0', '127.0.0.1').replace('/data', folder),
  ]);
  environment = [...own, ...passed].map(([name, value]) => `${name}=${value}`);
  container = spawnGuarded({
    name: 'try',
    command: 'env',
    args: [...environment, process.execPath, ...target.nodeArguments],
    workingDirectory: root,
    output: 'read',
  });
  assert.ok(container.stdout);
  for await (const line of createInterface({ input: container.stdout })) {
    printed.push(line);
    if (line.startsWith('docker exec ')) break;
  }
});

after(async () => {
  await container?.stop({ graceMs: 10_000 });
  rmSync(folder, { recursive: true });
});

/** Returns the value after a word of the printed text. */
function told(word: string): string {
  const line = printed.find((each) => each.startsWith(`${word}: `));
  assert.ok(line, printed.join('\n'));
  return line.slice(word.length + 2);
}

test('the try-out prints addresses that answer, and a key that the service accepts', async () => {
  const page = await fetch(told('Articles and reference'));
  assert.deepEqual([page.status, page.headers.get('content-type')], [200, 'text/html; charset=utf-8']);
  const [address, token] = told("Operators' console").replace(')', '').split(' (token ');
  const nodes = await fetch(`${address}/admin/v1/nodes`, { headers: { authorization: `Bearer ${token}` } });
  assert.equal(nodes.status, 200);
  assert.equal((await fetch(`${told('Simulated phones')}/root-key`)).status, 200);
  const key = told('Key of the demo tenant');
  const me = await fetch(new URL('/api/v1/me', told('Articles and reference')), {
    headers: { authorization: `Bearer ${key}` },
  });
  assert.equal(me.status, 200);
});

test('the command that the try-out prints runs the tour in its container, to the answer of README.md', async () => {
  assert.equal(printed.at(-1), `docker exec ${service.container_name} tour`);
  const script = readRepositoryFile('image/tour').replace(
    'exec node dist/examples/tour.js',
    `exec '${process.execPath}' --import tsx examples/tour.ts`,
  );
  assert.match(script, /--import tsx/);
  const { stdout } = await promisify(execFile)('env', [...environment, 'sh', '-c', script], { cwd: root });
  assert.equal(stdout.replaceAll(/\s+/g, ' ').trim(), "202 sent [ 'Your bread is ready' ]");
  assert.match(readRepositoryFile('README.md'), /202 sent \[ 'Your bread is ready' \]/);
});

test('the try-out publishes its ports only on loopback', () => {
  const names = Object.keys(service.environment);
  assert.deepEqual(
    service.ports.map((port) => port.replaceAll(/:-\d+/g, '')),
    names.map((name) => `127.0.0.1:\${${name}}:\${${name}}`),
  );
});

test('SIGTERM ends the try-out and all that it started, with exit 0', async () => {
  assert.deepEqual(await container.stop({ graceMs: 30_000 }), { code: 0, signal: null });
});
