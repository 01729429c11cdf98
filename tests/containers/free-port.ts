import { freePorts } from '../e2e/free-ports.ts';

/** A port of loopback that nobody listens on at this moment: for what must be told its port before it starts. */
export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1);
  return port;
}
