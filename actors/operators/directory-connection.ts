import { createClient, createCluster } from 'redis';
import type { RedisConnection } from 'redis-om';
import type { Logger } from '../../runtime/logger.ts';
import { parseRedisAddress } from '../../runtime/redis/redis-address.ts';

/** A connection for the operators' directory, and its end. */
export interface DirectoryConnection {
  readonly connection: RedisConnection;
  close(): Promise<void>;
}

/** Opens the second client that redis-om needs. It reconnects by itself; what fails meanwhile only delays the lists. */
export async function openDirectoryConnection(redisUrl: string, log: Logger): Promise<DirectoryConnection> {
  const address = parseRedisAddress(redisUrl);
  const { path, username, password, db, tls } = address.options;
  const credentials = { ...(username ? { username } : {}), ...(password ? { password } : {}) };
  const connection =
    address.kind === 'cluster'
      ? createCluster({
          rootNodes: address.nodes.map((socket) => ({ socket })),
          defaults: { ...credentials, ...(tls ? { socket: { tls: true } } : {}) },
        })
      : createClient({
          ...credentials,
          database: db ?? 0,
          socket: path
            ? { path }
            : {
                host: address.options.host ?? '127.0.0.1',
                port: address.options.port ?? 6379,
                ...(tls ? { tls: true } : {}),
              },
        });
  connection.on('error', (error: Error) =>
    log.debug({ err: error }, 'the directory’s connection to Redis failed'),
  );
  await connection.connect();
  return {
    connection: connection as unknown as RedisConnection,
    close: async () => void (await connection.disconnect()),
  };
}
