import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseRedisAddress } from '../../runtime/redis-address.ts';

test('every form of REDIS_URL is read', () => {
  assert.deepEqual(parseRedisAddress('/run/redis.sock'), {
    kind: 'single',
    options: { path: '/run/redis.sock' },
  });
  assert.deepEqual(parseRedisAddress('unix:///run/redis.sock'), parseRedisAddress('/run/redis.sock'));
  assert.deepEqual(parseRedisAddress('redis://localhost'), {
    kind: 'single',
    options: { host: 'localhost', port: 6379 },
  });
  assert.deepEqual(parseRedisAddress('rediss://me:p%40ss@[::1]:7000/2'), {
    kind: 'single',
    options: { host: '::1', port: 7000, username: 'me', password: 'p@ss', db: 2, tls: {} },
  });
  assert.deepEqual(parseRedisAddress('redis://:secret@one:1, redis://two:2'), {
    kind: 'cluster',
    nodes: [
      { host: 'one', port: 1 },
      { host: 'two', port: 2 },
    ],
    options: { password: 'secret' },
  });
});

test('an unreadable value is refused without repeating it, since it may hold a password', () => {
  for (const text of ['', 'nonsense:secret', 'http://:secret@host', 'redis://:secret@host/name'])
    assert.throws(() => parseRedisAddress(text), /REDIS_URL(?!.*secret)/);
});
