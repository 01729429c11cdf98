import { createClient, createCluster } from 'redis';
import type { RedisConnection } from 'redis-om';
import type { ArmedTimer, Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import { parseRedisAddress, type RedisAddress } from '../../runtime/redis-address.ts';

/** How often the server is asked if it is still the master. */
const ROLE_EVERY_MS = 5_000;

/** A connection for the operators' directory, and its end. */
export interface DirectoryConnection {
  readonly connection: RedisConnection;
  close(): Promise<void>;
}

export interface DirectoryConnectionOptions {
  /** See `parseRedisAddress`. */
  readonly redisUrl: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Opens the second client that redis-om needs. It reconnects by itself, also from a server that became a replica and
 * keeps the connection open. Failures meanwhile only delay the lists.
 */
export async function openDirectoryConnection(
  options: DirectoryConnectionOptions,
): Promise<DirectoryConnection> {
  const { log } = options;
  const address = parseRedisAddress(options.redisUrl);
  const connection = address.kind === 'cluster' ? clusterClient(address) : serverClient(address);
  connection.on('error', (error: Error) =>
    log.debug({ err: error }, "the directory's connection to Redis failed"),
  );
  await connection.connect();
  // A cluster's client learns from its servers which one is the master.
  const watch = address.kind === 'cluster' ? undefined : watchRole(connection as ServerClient, options);
  return {
    connection: connection as unknown as RedisConnection,
    async close() {
      watch?.end();
      await connection.disconnect();
    },
  };
}

type ServerClient = ReturnType<typeof serverClient>;

function clusterClient(address: Extract<RedisAddress, { kind: 'cluster' }>) {
  return createCluster({
    rootNodes: address.nodes.map((socket) => ({ socket })),
    defaults: {
      ...credentials(address),
      ...(address.options.tls === undefined ? {} : { socket: { tls: true } }),
    },
  });
}

function serverClient(address: RedisAddress) {
  const { path, host = '127.0.0.1', port = 6379, db = 0, tls } = address.options;
  return createClient({
    ...credentials(address),
    database: db,
    socket: path ? { path } : { host, port, ...(tls === undefined ? {} : { tls: true }) },
  });
}

function credentials({ options: { username, password } }: RedisAddress) {
  return {
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
  };
}

/** Connects again while the server is a replica. After a failover the address leads to the new master. */
function watchRole(
  client: ServerClient,
  { clock, log }: DirectoryConnectionOptions,
): { readonly end: () => void } {
  let timer: ArmedTimer | undefined;
  let hasEnded = false;
  const look = async (): Promise<void> => {
    try {
      if (client.isReady && (await client.info('replication')).includes('role:slave')) {
        await client.disconnect();
        if (!hasEnded) await client.connect();
      }
    } catch (error) {
      log.debug({ err: error }, "the directory's connection could not be asked for its server's role");
    }
    lookLater();
  };
  const lookLater = (): void => {
    if (!hasEnded) timer = clock.after(ROLE_EVERY_MS, () => void look());
  };
  lookLater();
  return {
    end() {
      hasEnded = true;
      timer?.cancel();
    },
  };
}
