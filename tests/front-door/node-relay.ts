import { once } from 'node:events';
import { createConnection, createServer, type Socket } from 'node:net';
import { listening } from '../testbed/listening.ts';

/** A node as the proxy sees it: a separate port that leads to a service. */
export interface NodeRelay {
  readonly port: number;
  /** The first lines of all requests that came in, in their order. */
  readonly taken: readonly string[];
  /** Ends all connections and listens no more, as a killed process does. */
  die(): Promise<void>;
}

/** The ways in which a relay handles a request. `break`: ends the connection. `swallow`: never answers. */
type Outcome = 'pass' | 'break' | 'swallow';

const REQUEST_LINE = /^[A-Z]+ \S+ HTTP\/1\.[01](?=\r\n)/;

/** Starts a relay to the service on that port. Nothing is sent on behind a request that is not passed. */
export async function startNodeRelay(
  servicePort: number,
  outcomeOf: (requestLine: string) => Outcome = () => 'pass',
): Promise<NodeRelay> {
  const taken: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((caller) => {
    const service = createConnection(servicePort, '127.0.0.1');
    let outcome: Outcome = 'pass';
    for (const socket of [caller, service]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => sockets.delete(socket));
    }
    caller.on('close', () => service.destroy());
    service.on('close', () => caller.destroy());
    service.pipe(caller);
    caller.on('data', (bytes: Buffer) => {
      const [line] = REQUEST_LINE.exec(bytes.toString('latin1')) ?? [];
      if (line !== undefined) {
        taken.push(line);
        outcome = outcomeOf(line);
      }
      if (outcome === 'pass') service.write(bytes);
      if (outcome === 'break') caller.destroy();
    });
  });
  const port = await listening(server);
  return {
    port,
    taken,
    async die() {
      if (!server.listening) return;
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}
