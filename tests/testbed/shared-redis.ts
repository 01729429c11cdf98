import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { Redis } from 'ioredis';
import { type RedisServer, startRedisServer } from './redis-server.ts';

/** A Redis for the tests of a file or suite: it starts before them and ends after them. */
export interface SharedRedis {
  readonly redis: Redis;
  /** The value for `new Redis(url)` and `REDIS_URL`: the socket's path. */
  readonly url: string;
}

/** Starts the Redis before the tests, and then calls `prepare`. Its client connects at the first command. */
export function sharedRedis(
  options: { readonly appendfsync?: 'no' } = {},
  prepare: () => unknown = () => undefined,
): SharedRedis {
  const directory = mkdtempSync(join(tmpdir(), 'redis-'));
  const url = join(directory, 'redis.sock');
  const redis = new Redis(url, { lazyConnect: true });
  let server: RedisServer | undefined;
  before(async () => {
    server = await startRedisServer({ directory, ...options });
    await prepare();
  });
  after(async () => {
    redis.disconnect();
    await server?.stop();
  });
  return { redis, url };
}
