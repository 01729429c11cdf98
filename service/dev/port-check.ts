import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** A port to listen on, and the variable that sets it. */
export interface WantedPort {
  readonly variable: string;
  readonly host: string;
  readonly port: number;
}

/**
 * Rejects with one sentence if a port cannot be listened on, or two are equal. Called before anything starts, so the
 * reason is printed and not the crash it would cause.
 */
export async function refuseTakenPorts(wantedPorts: readonly WantedPort[]): Promise<void> {
  const probes: Server[] = [];
  try {
    for (const wantedPort of wantedPorts) probes.push(await probe(wantedPort));
  } finally {
    await Promise.all(probes.map((probe) => once(probe.close(), 'close')));
  }
}

async function probe({ variable, host, port }: WantedPort): Promise<Server> {
  const server = createServer().listen({ host, port });
  try {
    await once(server, 'listening');
    return server;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    const reason = code === 'EADDRINUSE' ? 'is in use' : `cannot be listened on (${code})`;
    throw new Error(`Port ${port} on ${host} ${reason}; set ${variable} to another.`);
  }
}
