import { Redis } from 'ioredis';
import { freePorts } from '../../testbed/free-ports.ts';
import { type RedisServer, startRedisServer } from '../../testbed/redis-server.ts';
import { until } from '../../testbed/waiting.ts';

const MASTERS = 3;
const SLOTS = 16_384;

/** Three masters that share the slots, each a separate process. */
export interface RedisCluster {
  /** The value of `REDIS_URL`. */
  readonly url: string;
  readonly masters: readonly RedisServer[];
  stop(): Promise<void>;
}

/** Starts three masters, makes them one cluster and waits until each reports it complete. */
export async function startRedisCluster(): Promise<RedisCluster> {
  const ports = await freePorts(MASTERS * 2);
  const addresses = Array.from({ length: MASTERS }, (_, index) => ({
    port: ports[index] ?? 0,
    busPort: ports[MASTERS + index] ?? 0,
  }));
  const masters = await Promise.all(
    addresses.map(({ port, busPort }) =>
      startRedisServer({
        appendfsync: 'always',
        extraArgs: [
          ...['--port', String(port), '--bind', '127.0.0.1'],
          ...['--cluster-enabled', 'yes', '--cluster-port', String(busPort)],
          ...['--cluster-node-timeout', '5000'],
        ],
      }),
    ),
  );
  const clients = masters.map(({ socketPath }) => new Redis(socketPath));
  try {
    await Promise.all(
      clients.map((client, index) => {
        const from = Math.floor((index * SLOTS) / MASTERS);
        const to = Math.floor(((index + 1) * SLOTS) / MASTERS) - 1;
        return client.call('CLUSTER', 'ADDSLOTSRANGE', from, to);
      }),
    );
    for (const { port, busPort } of addresses)
      await clients[0]?.call('CLUSTER', 'MEET', '127.0.0.1', port, busPort);
    await Promise.all(
      clients.map((client) =>
        until('the cluster is whole', async () => {
          const info = String(await client.call('CLUSTER', 'INFO'));
          return info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${MASTERS}`);
        }),
      ),
    );
  } finally {
    for (const client of clients) client.disconnect();
  }
  return {
    url: addresses.map(({ port }) => `redis://127.0.0.1:${port}`).join(','),
    masters,
    async stop() {
      await Promise.all(masters.map((master) => master.stop()));
    },
  };
}
