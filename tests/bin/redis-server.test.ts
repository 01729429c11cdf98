import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { Redis } from 'ioredis';
import { startRedisServer } from '../testbed/redis-server.ts';

test('a private Redis keeps its data across a kill and a restart, and leaves nothing behind', async () => {
  const server = await startRedisServer({ appendfsync: 'always' });
  const redisBefore = new Redis(server.url);
  await redisBefore.set('kept', 'yes');
  redisBefore.disconnect();
  const firstPid = server.pid;
  await server.kill();
  await server.restart();
  assert.notEqual(server.pid, firstPid);
  const after = new Redis(server.url);
  assert.equal(await after.get('kept'), 'yes');
  after.disconnect();
  const { pid } = server;
  await server.stop();
  assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
  assert.equal(existsSync(dirname(server.socketPath)), false);
  await server.stop();
});

test('a server that cannot start reports its own error', async () => {
  await assert.rejects(startRedisServer({ extraArgs: ['--no-such-setting', 'x'] }), /no-such-setting/);
});
