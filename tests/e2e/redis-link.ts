import { once } from 'node:events';
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net';

/** The line between one node and Redis, with a test's hands on it. */
export interface RedisLink {
  readonly url: string;
  /** Ends all connections and refuses new ones, until `mend`. */
  cut(): void;
  /** Lets nothing through either way, and nobody notices, until `mend` lets everything through that was held back. */
  stall(): void;
  mend(): void;
  close(): Promise<void>;
}

/** Puts a TCP proxy before a Redis socket. */
export async function redisLink(socketPath: string): Promise<RedisLink> {
  const sockets = new Set<Socket>();
  let state: 'whole' | 'cut' | 'stalled' = 'whole';
  const server = createServer((client) => {
    if (state === 'cut') {
      client.destroy();
      return;
    }
    const redis = createConnection(socketPath);
    for (const [from, to] of [
      [client, redis],
      [redis, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => from.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      from.on('data', (bytes) => to.write(bytes));
      if (state === 'stalled') from.pause();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const end = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut() {
      state = 'cut';
      end();
    },
    stall() {
      state = 'stalled';
      for (const socket of sockets) socket.pause();
    },
    mend() {
      state = 'whole';
      for (const socket of sockets) socket.resume();
    },
    async close() {
      server.close();
      end();
      await once(server, 'close');
    },
  };
}
