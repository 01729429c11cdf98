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
  let arrived: { readonly address: string; readonly port: number }[] = [];
  const ownPorts = new Set<number>();
  const came = (message: unknown): void => {
    // A closed socket no longer has its peer's address.
    const { remoteAddress, remotePort } = (message as { readonly socket: Socket }).socket;
    arrived.push({ address: remoteAddress ?? 'a closed socket', port: remotePort ?? 0 });
  };
  const left = (message: unknown): void => {
    const { socket } = message as { readonly socket: Socket };
    socket.once('connect', () => {
      if (socket.localPort !== undefined) ownPorts.add(socket.localPort);
    });
  };
  diagnostics.subscribe('net.server.socket', came);
  diagnostics.subscribe('net.client.socket', left);
  return {
    take() {
      const taken = arrived;
      arrived = [];
      return taken.flatMap(({ address, port }) => (ownPorts.has(port) ? [] : [address]));
    },
    stop() {
      diagnostics.unsubscribe('net.server.socket', came);
      diagnostics.unsubscribe('net.client.socket', left);
    },
  };
}
