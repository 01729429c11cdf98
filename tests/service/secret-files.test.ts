/** Secrets of the environment that stand in files. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { devEnvironment, serviceEnvironment } from '../../service/environment.ts';
import { key, least, names, refused } from './refused-environment.ts';

const folder = mkdtempSync(join(tmpdir(), 'secrets-'));
after(() => rmSync(folder, { recursive: true, force: true }));

function secretFile(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

test('every secret may come from a file, whose last line break is not part of it', () => {
  const environment = serviceEnvironment({
    ADMIN_TOKEN_FILE: secretFile('token', 'operators-only\n'),
    CREDENTIALS_KEY_FILE: secretFile('key', `${key}\r\n`),
    REDIS_URL_FILE: secretFile('redis', 'redis://user:pass@redis.example.com/3'),
  });
  assert.equal(environment.redisUrl, 'redis://user:pass@redis.example.com/3');
  assert.deepEqual(environment.credentialsKeys, [Buffer.alloc(32, 7)]);
  const dev = devEnvironment({ ADMIN_TOKEN_FILE: join(folder, 'token') });
  assert.equal(dev.adminToken, 'operators-only');
  assert.deepEqual(dev.variables, { ADMIN_TOKEN: 'operators-only' });
});

test('a secret given twice, a missing file and an empty one are listed together', () => {
  const { problems } = refused({
    ...least,
    CREDENTIALS_KEY_FILE: secretFile('key', key),
    ADMIN_TOKEN: undefined,
    ADMIN_TOKEN_FILE: join(folder, 'nowhere'),
    REDIS_URL: undefined,
    REDIS_URL_FILE: secretFile('empty', '\n'),
    PORT: 'x',
  });
  assert.deepEqual(problems.slice(0, 3), [
    `ADMIN_TOKEN_FILE: expected a file that can be read (ENOENT); found "${join(folder, 'nowhere')}"`,
    `CREDENTIALS_KEY_FILE: expected nothing beside CREDENTIALS_KEY; found "${join(folder, 'key')}"`,
    `REDIS_URL_FILE: expected a file with one secret in it; found "${join(folder, 'empty')}"`,
  ]);
  assert.match(problems[3] ?? '', /^PORT: /);
  assert.equal(problems.length, 4);
});

test('the content of a secret file is not repeated if it cannot be used', () => {
  const { message } = refused({
    ...least,
    REDIS_URL: undefined,
    REDIS_URL_FILE: secretFile('bad', 'hunter2'),
  });
  assert.match(message, /REDIS_URL: expected redis:/);
  assert.doesNotMatch(message, /hunter2/);
});

test('bin/dev lists a file that cannot be read too', () => {
  const error = refused({ ADMIN_TOKEN_FILE: join(folder, 'nowhere') }, devEnvironment);
  assert.deepEqual(names(error), ['ADMIN_TOKEN_FILE']);
});
