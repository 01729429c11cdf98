/** compose.try.yaml: from a clone to the tour's answer, as somebody does who has an engine and no Node. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { MINUTE_MS } from '../../runtime/durations.ts';
import { freePorts } from '../testbed/free-ports.ts';
import { root } from '../testbed/root.ts';
import { until } from '../testbed/waiting.ts';

const [port, adminPort, simulatorPort] = await freePorts(3);
const variables = [`PORT=${port}`, `ADMIN_PORT=${adminPort}`, `SIMULATOR_PORT=${simulatorPort}`];

async function docker(...words: readonly string[]): Promise<string> {
  const options = { cwd: root, maxBuffer: 64_000_000 };
  return (await promisify(execFile)('env', [...variables, 'docker', ...words], options)).stdout;
}
const compose = (...words: readonly string[]) => docker('compose', '-f', 'compose.try.yaml', ...words);

after(() => compose('down', '--volumes'));

/** Starts it by the commands of the page, and waits for the command that it prints last. */
async function up(): Promise<string> {
  await compose('up', '--detach', '--build');
  return until(
    'all is up',
    async () => {
      const lines = (await compose('logs', '--no-log-prefix', 'try')).trim().split('\n');
      // Some versions of Compose begin each line with a code for a terminal.
      return lines.findLast((line) => line.includes('docker exec '))?.match(/docker exec .+/)?.[0];
    },
    { withinMs: 2 * MINUTE_MS, everyMs: 500 },
  );
}

test('one command starts the try-out, and the command that it prints runs the tour', {
  timeout: 600_000,
}, async () => {
  const [, ...words] = (await up()).trim().split(' ');
  assert.equal((await docker(...words)).replaceAll(/\s+/g, ' '), "202 sent [ 'Your bread is ready' ] ");
  assert.equal((await fetch(`http://127.0.0.1:${port}/docs`)).status, 200);
  assert.equal((await fetch(`http://127.0.0.1:${adminPort}/readyz`)).status, 200);
  assert.equal((await fetch(`http://127.0.0.1:${simulatorPort}/root-key`)).status, 200);
});

test('the try-out ends with 0, and a recreated container carries on', { timeout: 600_000 }, async () => {
  await compose('stop');
  assert.match(await compose('ps', '--all', '--format', '{{.Status}}'), /^Exited \(0\)/);
  await compose('rm', '--force');
  const [, ...words] = (await up()).trim().split(' ');
  // The first answer comes again.
  assert.equal((await docker(...words)).replaceAll(/\s+/g, ' '), "200 sent [ 'Your bread is ready' ] ");
});
