import diagnostics from 'node:diagnostics_channel';
import type { Socket } from 'node:net';

/** The connections that the servers of this process get. */
export interface SeenConnections {
  /** From which addresses other processes connected since the last call, in their order. */
  take(): readonly string[];
  stop(): void;
}

/** Watches all servers of this process; what it connects to itself is left out. */
export function watchConnections(): SeenConnections {
  let arrived: Socket[] = [];
  const ownPorts = new Set<number>();
  const came = (message: unknown): void => {
    arrived.push((message as { readonly socket: Socket }).socket);
  };
  const left = (message: unknown): void => {
    const { socket } = message as { readonly socket: Socket };
    socket.once('connect', () => ownPorts.add(socket.localPort ?? 0));
  };
  diagnostics.subscribe('net.server.socket', came);
  diagnostics.subscribe('net.client.socket', left);
  return {
    take() {
      const taken = arrived;
      arrived = [];
      return taken.flatMap(({ remoteAddress, remotePort = 0 }) =>
        ownPorts.has(remotePort) ? [] : [remoteAddress ?? 'a closed socket'],
      );
    },
    stop() {
      diagnostics.unsubscribe('net.server.socket', came);
      diagnostics.unsubscribe('net.client.socket', left);
    },
  };
}
