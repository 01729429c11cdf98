import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PrivateRedis, startPrivateRedis } from '../../service/dev/private-redis.ts';

/** A Redis of a test's own: Unix socket, append-only file, fresh folder. */
export interface RedisServer {
  /** The value for `new Redis(url)` and `REDIS_URL`: the socket's path. */
  readonly url: string;
  readonly socketPath: string;
  /** The server's process id; another one after `restart`. */
  readonly pid: number;
  /** Ends it and removes its folder. Stopping twice does nothing. */
  stop(): Promise<void>;
  /** SIGKILL, as when a host's process is shot; the files stay. */
  kill(): Promise<void>;
  /** Starts it again on the same files and socket, ending it first when it still runs. */
  restart(): Promise<void>;
}

/** Starts a private redis-server and waits until it answers. It ends with the test's process at the latest. */
export async function startRedisServer(
  options: {
    readonly appendfsync?: 'always' | 'everysec' | 'no';
    readonly extraArgs?: readonly string[];
    /** The directory of its files; default: a new one. */
    readonly directory?: string;
  } = {},
): Promise<RedisServer> {
  const { appendfsync = 'everysec', extraArgs = [] } = options;
  const directory = options.directory ?? mkdtempSync(join(tmpdir(), 'redis-'));
  // The answers of DUMP are not compressed, so that tests can search them for what must not be there.
  const searchable = ['--rdbcompression', 'no'];
  const start = (): Promise<PrivateRedis> =>
    startPrivateRedis({ directory, appendfsync, extraArgs: [...searchable, ...extraArgs] });
  let redis = await start();
  const { socketPath } = redis;
  return {
    url: socketPath,
    socketPath,
    get pid() {
      return redis.process.pid;
    },
    async stop() {
      redis.process.signal('SIGKILL');
      await redis.process.ended;
      rmSync(directory, { recursive: true, force: true });
    },
    async kill() {
      redis.process.signal('SIGKILL');
      await redis.process.ended;
    },
    async restart() {
      await redis.process.stop({ graceMs: 5_000 });
      redis = await start();
    },
  };
}
