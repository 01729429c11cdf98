import { once } from 'node:events';
import { createServer } from 'node:net';

/** A port somebody wants to listen on, and the variable that picks it. */
export interface WantedPort {
  readonly variable: string;
  readonly host: string;
  readonly port: number;
}

/** Rejects with one sentence when a port cannot be listened on. Asked before anything starts, to fail early and plainly. */
export async function refuseTakenPorts(wanted: readonly WantedPort[]): Promise<void> {
  for (const { variable, host, port } of wanted) {
    const probe = createServer().listen({ host, port });
    try {
      await once(probe, 'listening');
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      const why = code === 'EADDRINUSE' ? 'is in use' : `cannot be listened on (${code})`;
      throw new Error(`Port ${port} on ${host} ${why}; set ${variable} to another.`);
    }
    probe.close();
    await once(probe, 'close');
  }
}
