import type { Server, Socket } from 'node:net';

/**
 * Watches a server from its start. The returned function closes it at once, with every connection.
 * `closeAllConnections` skips sockets that were upgraded or refused, or that have not finished TLS. One such socket
 * delays `close` until its other end closes.
 */
export function serverCloser(server: Server): () => Promise<void> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return () =>
    new Promise((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
}
