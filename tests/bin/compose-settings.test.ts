/** compose.yaml passes on what a deployment may want to set, under the names the service reads. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

/** Settings of README's table that compose.yaml decides itself, or leaves at their defaults. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  ADMIN_TOKENS: 'one token opens all; more are added where they are needed',
  HOST: 'the image listens on all addresses of its container',
  ADMIN_HOST: 'as HOST',
  DATA_DIR: 'bin/dev and the simulator alone keep files there',
  SETUP_URL_TEMPLATE: 'follows PUBLIC_URL',
  PLATFORM_NAME: 'a name without a right answer',
  MEDIA_DENIED_RANGES: 'of a network that is not known here',
  MEDIA_NAME_SERVERS: 'the engine has its own',
  SESSION_WORKERS: 'follows the cores',
  MESSAGE_RETENTION_DAYS: 'a decision of whoever keeps the data',
  EVENT_RETENTION_DAYS: 'as MESSAGE_RETENTION_DAYS',
  EVENT_MAX_ENTRIES: 'as MESSAGE_RETENTION_DAYS',
  REQUEST_LOG_RETENTION_DAYS: 'as MESSAGE_RETENTION_DAYS',
  REQUEST_LOG_MAX_ENTRIES: 'as MESSAGE_RETENTION_DAYS',
  REQUEST_LOG_MAX_BYTES: 'as MESSAGE_RETENTION_DAYS',
  REVISION: 'the image has it',
  SIMULATOR_PORT: 'no simulator runs here',
};

test('each setting of README is passed on by compose.yaml or left out for a reason', () => {
  const rows = read('README.md').match(/^\| `[A-Z].*$/gm) ?? [];
  const settings = rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([A-Z][A-Z_]+)`/g)]);
  const names = settings.map(([, name = '']) => name);
  assert.ok(names.length > 25, 'the table is no longer understood');
  const compose = read('compose.yaml');
  const passed = new Set([...compose.matchAll(/^ {2,6}([A-Z][A-Z_]+):/gm)].map(([, name = '']) => name));
  const published = ['PORT', 'ADMIN_PORT'].filter((name) => compose.includes(`\${${name}:-`));
  const expected = names.filter((name) => !(name in LEFT_OUT) && !published.includes(name));
  assert.deepEqual(
    expected.filter((name) => !passed.has(name)),
    [],
  );
  assert.deepEqual(
    Object.keys(LEFT_OUT).filter((name) => passed.has(name) || !names.includes(name)),
    [],
  );
});
