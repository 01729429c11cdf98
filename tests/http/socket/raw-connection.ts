import { connect, type Socket } from 'node:net';
import { after } from 'node:test';

/** A TCP connection on which a test writes bytes as it pleases. */
export interface RawConnection {
  write(bytes: string): void;
  /** All that came so far, once `condition` holds for it or the peer closed. */
  until(condition: (received: string) => boolean): Promise<string>;
  /** All that came, once the peer has closed. */
  closed(): Promise<string>;
  destroy(): void;
  /** Breaks the connection off: from now on the peer's kernel knows nothing of it. */
  reset(): void;
}

/** Opens a connection to a listener on loopback, from this address of it. Resets count as closed. */
export async function openRaw(url: string, localAddress = '127.0.0.1'): Promise<RawConnection> {
  const socket: Socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', localAddress });
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  let received = '';
  let isClosed = false;
  const waiting = new Set<() => void>();
  const changed = (): void => {
    for (const check of waiting) check();
  };
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString('latin1');
    changed();
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    isClosed = true;
    changed();
  });
  const untilCondition = (condition: () => boolean): Promise<string> =>
    new Promise((resolve) => {
      const check = (): void => {
        if (!condition()) return;
        waiting.delete(check);
        resolve(received);
      };
      waiting.add(check);
      check();
    });
  return {
    write: (bytes) => void socket.write(bytes, 'latin1'),
    until: (condition) => untilCondition(() => isClosed || condition(received)),
    closed: () => untilCondition(() => isClosed),
    destroy: () => socket.destroy(),
    reset: () => void socket.resetAndDestroy(),
  };
}

/** Opens connections for the suite that calls it, and breaks all of them off before what the suite ends after that. */
export function rawConnections(): (url: string) => Promise<RawConnection> {
  const connections: RawConnection[] = [];
  after(() => {
    for (const connection of connections) connection.destroy();
  });
  return async (url) => {
    const connection = await openRaw(url);
    connections.push(connection);
    return connection;
  };
}

/** Status lines of the replies on a connection. */
export function statuses(received: string): number[] {
  return [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)]
    .map(([, status]) => Number(status))
    .filter((status) => status !== 100);
}
