import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the ports that systems give to outgoing connections, one of which would else take a port while its server is
 * down.
 */
const FROM = 12_000;
const BEFORE = 32_000;

/** Returns free ports. All are held until the last is found, so that they differ. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = [];
  while (servers.length < count) {
    const server = createServer();
    const port = randomInt(FROM, BEFORE);
    const isOurs = await once(server.listen(port, '127.0.0.1'), 'listening').then(
      () => true,
      () => false,
    );
    if (isOurs) servers.push({ server, port });
  }
  await Promise.all(servers.map(({ server }) => once(server.close(), 'close')));
  return servers.map(({ port }) => port);
}
