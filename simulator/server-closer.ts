import type { Server, Socket } from 'node:net';

/**
 * Watches a server from its start; the returned function closes it at once, with every connection it took. The
 * server's own `closeAllConnections` passes over sockets that were upgraded or refused, or have not finished TLS, and
 * one of those keeps `close` waiting for as long as its other end likes.
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
