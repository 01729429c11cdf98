import { freePorts } from '../testbed/free-ports.ts';

/** Returns a free port of loopback, for programs that need their port before they start. */
export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1);
  return port;
}
